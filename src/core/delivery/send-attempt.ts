import type { ConfiguredProvider } from '../channels/providers.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { type Outcome, soundOutcome } from '../notification/outcome.ts'
import type { Observer } from '../observe/observer.ts'
import type { SpanEnd } from '../observe/telemetry.ts'
import type { Clock } from '../ports/clock.ts'
import type { Message } from '../ports/provider.ts'
import { type AboutAttempt, createAttemptContext } from './attempt-context.ts'
import type { Stop } from './stop.ts'

/** Time for a provider to react to its signal before the attempt is given up. */
export const GRACE_MS = 2_000

/**
 * Calls a provider with a deadline. There is always an outcome: an exception, an invalid answer or a promise that never
 * settles counts as `ambiguous`.
 *
 * @param onError receives exceptions of the provider, except those caused by the stop, and an error for an invalid answer
 */
export async function sendAttempt(
  provider: ConfiguredProvider,
  message: Message,
  context: AboutAttempt,
  stop: Stop,
  clock: Clock,
  observer: Observer,
  onError: (error: Error) => void,
): Promise<Outcome> {
  const { name, channel } = provider
  const { notificationId, attempt } = context
  const began = clock.monotonic()
  const outcome = await observer.span(
    { name: 'attempt', channel, provider: name, notificationId, attempt },
    () => ask(provider, message, context, stop, clock, onError),
    spanEnd,
  )
  observer.record({
    type: 'attempt',
    channel,
    provider: name,
    outcome: outcome.kind,
    code: codeOf(outcome),
    durationMs: clock.monotonic() - began,
  })
  return outcome
}

async function ask(
  provider: ConfiguredProvider,
  message: Message,
  context: AboutAttempt,
  stop: Stop,
  clock: Clock,
  onError: (error: Error) => void,
): Promise<Outcome> {
  const limit = limitAttempt(stop, provider.timeoutMs, clock)
  try {
    const answer: unknown = await limit.within(
      provider.plugin.send(message, createAttemptContext(context, stop)),
    )
    const outcome = soundOutcome(answer)
    if (outcome !== null) return outcome
    const invalid = `The provider "${provider.name}" returned no valid outcome`
    const remedy = 'return { kind: "accepted" } if it took the message, otherwise another outcome'
    onError(
      new Error(`${invalid}, for ${context.notificationId}: ${remedy} (docs/tasks/custom-provider.md).`),
    )
    return { kind: 'ambiguous', reason: `${invalid}.` }
  } catch (error) {
    const stopped = stop.reason()
    if (stopped !== null) return { kind: 'ambiguous', reason: stopped.message }
    const thrown = `The provider "${provider.name}" threw an exception instead of returning an outcome`
    onError(new Error(`${thrown}, for ${context.notificationId}: see \`cause\`.`, { cause: error }))
    return { kind: 'ambiguous', reason: `${thrown}.` }
  } finally {
    limit.lift()
  }
}

interface AttemptLimit {
  /** The provider's answer, or a substitute if it ignores the signal for the grace period. */
  within(answer: Promise<unknown>): Promise<unknown>
  lift(): void
}

/**
 * Stops an attempt at its deadline. Hand-written: Promise.race() and AbortSignal.any() would be the most expensive part
 * of it.
 */
function limitAttempt(stop: Stop, timeoutMs: number, clock: Clock): AttemptLimit {
  let cancelGrace = (): void => {}
  const cancelDeadline = clock.timer(timeoutMs, () =>
    stop.abort(new Error(`No answer within ${timeoutMs} ms.`)),
  )
  return {
    within: (answer) =>
      new Promise((resolve, reject) => {
        stop.onAbort(({ message: reason }) => {
          cancelGrace = clock.timer(GRACE_MS, () => resolve({ kind: 'ambiguous', reason }))
        })
        // A plug-in in plain JavaScript may return a plain value.
        Promise.resolve(answer).then(resolve, reject)
      }),
    lift() {
      stop.onAbort(() => {})
      cancelDeadline()
      cancelGrace()
    },
  }
}

function codeOf(outcome: Outcome): ErrorCode | null {
  if (outcome.kind === 'accepted') return null
  return outcome.code ?? 'delivery_unknown'
}

function spanEnd(outcome: Outcome): SpanEnd {
  const failure = codeOf(outcome)
  return { outcome: outcome.kind, ...(failure === null ? {} : { failure }) }
}
