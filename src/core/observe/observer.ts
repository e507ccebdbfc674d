import { isNotifierError } from '../errors/notifier-error.ts'
import type { Span, Telemetry } from '../ports/telemetry.ts'
import type { SpanEnd, SpanStart, TelemetryFact } from './telemetry.ts'

/** Receives the facts of all services. Never throws or rejects because of a plug-in. */
export interface Observer {
  record(fact: TelemetryFact): void
  /**
   * Runs `work` inside a span; without a tracing plug-in at no cost.
   *
   * @param endOf the attributes of the span's end
   */
  span<Answer>(
    start: SpanStart,
    work: (span: Span | null) => Promise<Answer>,
    endOf?: (answer: Answer) => SpanEnd,
  ): Promise<Answer>
}

/**
 * @param record stores the metrics
 * @param faulty called once for each plug-in that throws
 */
export function createObserver(
  record: (fact: TelemetryFact) => void,
  plugins: readonly Telemetry[],
  faulty: (plugin: Telemetry, error: unknown) => void,
): Observer {
  const reported = new Set<Telemetry>()
  const recorders = plugins.filter((plugin) => plugin.record !== undefined)
  const tracer = plugins.find((plugin) => plugin.startSpan !== undefined)

  function threw(plugin: Telemetry, error: unknown): void {
    if (!reported.has(plugin)) faulty(plugin, error)
    reported.add(plugin)
  }

  function guarded<Answer>(plugin: Telemetry, call: () => Answer): Answer | null {
    try {
      const answer = call()
      // A rejection must not end the process.
      if (answer instanceof Promise) answer.catch((error: unknown) => threw(plugin, error))
      return answer
    } catch (error) {
      threw(plugin, error)
      return null
    }
  }

  async function inSpan<Answer>(
    plugin: Telemetry,
    start: SpanStart,
    work: (span: Span | null) => Promise<Answer>,
    endOf: (answer: Answer) => SpanEnd,
  ): Promise<Answer> {
    const span = guarded(plugin, () => plugin.startSpan?.(start)) ?? null
    if (span === null) return work(null)
    let begun: Promise<Answer> | undefined
    guarded(plugin, () =>
      span.run(() => {
        // Work is a hand-over to a provider: it must run once, however often a plug-in calls this.
        if (begun !== undefined) return
        begun = work(span)
        // Awaited below; an earlier rejection must not be unhandled.
        begun.catch(() => {})
      }),
    )
    begun ??= work(null)
    try {
      const answer = await begun
      guarded(plugin, () => span.end(endOf(answer)))
      return answer
    } catch (error) {
      guarded(plugin, () => span.end({ failure: failureOf(error) }))
      throw error
    }
  }

  return {
    record(fact) {
      record(fact)
      for (const plugin of recorders) guarded(plugin, () => plugin.record?.(fact))
    },
    span(start, work, endOf = () => ({})) {
      return tracer === undefined ? work(null) : inSpan(tracer, start, work, endOf)
    },
  }
}

function failureOf(error: unknown): string {
  if (isNotifierError(error)) return error.code
  return error instanceof Error ? error.name : typeof error
}
