import { isNotifierError } from '../../domain/errors/notifier-error.ts'
import type { SpanEnd, SpanStart, TelemetryFact } from '../../domain/telemetry.ts'
import type { Span, Telemetry } from '../../ports/telemetry.ts'

/** What the services report to; whatever a plug-in does, it neither throws nor rejects by itself. */
export interface Observer {
  record(fact: TelemetryFact): void
  /**
   * Runs `work` inside a span, which ends with it; without one where nobody traces, at no cost.
   *
   * @param endOf what an answer says about the span
   */
  span<Answer>(
    start: SpanStart,
    work: (span: Span | null) => Promise<Answer>,
    endOf?: (answer: Answer) => SpanEnd,
  ): Promise<Answer>
}

/**
 * @param record keeps what always is kept
 * @param faulty is told once for each plug-in that throws
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
      // An async method: what it rejects with must not end the process.
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
        // Work is a hand-over to a provider: done once, however often and whenever this is called.
        if (begun !== undefined) return
        begun = work(span)
        // It is waited for below; until then nothing else would.
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
