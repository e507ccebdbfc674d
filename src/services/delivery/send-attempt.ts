import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import { type Outcome, soundOutcome } from '../../domain/outcome.ts'
import type { SpanEnd } from '../../domain/telemetry.ts'
import type { Message, SendContext } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Provider } from '../providers.ts'
import type { Observer } from '../telemetry/observer.ts'

/** How long a provider may ignore its signal before its attempt is given up. */
export const GRACE_MS = 2_000

/**
 * Calls a provider under its deadline. Whatever it does (throws, answers nonsense, never settles), there is an
 * outcome: what nobody can know is `ambiguous`.
 */
export async function sendAttempt(
  provider: Provider,
  message: Message,
  context: Omit<SendContext, 'signal'>,
  stop: AbortSignal,
  clock: Clock,
  observer: Observer,
): Promise<Outcome> {
  const { name, channel } = provider
  const { notificationId, attempt } = context
  const began = clock.monotonic()
  const outcome = await observer.span(
    { name: 'attempt', channel, provider: name, notificationId, attempt },
    () => ask(provider, message, context, stop, clock),
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
  provider: Provider,
  message: Message,
  context: Omit<SendContext, 'signal'>,
  stop: AbortSignal,
  clock: Clock,
): Promise<Outcome> {
  const limit = limitAttempt(stop, provider.timeoutMs, clock)
  try {
    const answer: unknown = await Promise.race([
      provider.plugin.send(message, { ...context, signal: limit.signal }),
      limit.abandoned,
    ])
    const reason = `The provider "${provider.name}" answered with no outcome.`
    return soundOutcome(answer) ?? { kind: 'ambiguous', reason }
  } catch (error) {
    context.logger.error('A channel threw instead of answering with an outcome.', {
      provider: provider.name,
      error,
    })
    return { kind: 'ambiguous', reason: `The provider "${provider.name}" failed unexpectedly.` }
  } finally {
    limit.lift()
  }
}

interface AttemptLimit {
  /** Aborts at the deadline, or when the attempt is to stop. */
  readonly signal: AbortSignal
  /** Resolves a while after that, for a provider that ignores it. */
  readonly abandoned: Promise<Outcome>
  lift(): void
}

/** By hand: AbortSignal.any() and its weak references cost more than all else that an attempt does in memory. */
function limitAttempt(stop: AbortSignal, timeoutMs: number, clock: Clock): AttemptLimit {
  const controller = new AbortController()
  let cancelGrace = (): void => {}
  let giveUp = (_outcome: Outcome): void => {}
  const abandoned = new Promise<Outcome>((resolve) => {
    giveUp = resolve
  })

  function abort(reason: Error): void {
    if (controller.signal.aborted) return
    cancelGrace = clock.timer(GRACE_MS, () => giveUp({ kind: 'ambiguous', reason: reason.message }))
    controller.abort(reason)
  }

  const onStop = (): void => abort(stop.reason)
  const cancelDeadline = clock.timer(timeoutMs, () => abort(new Error(`No answer within ${timeoutMs} ms.`)))
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  return {
    signal: controller.signal,
    abandoned,
    lift() {
      stop.removeEventListener('abort', onStop)
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
