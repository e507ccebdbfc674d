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
  if (stop.aborted) {
    return {
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'message',
      message: 'The provider was not asked: the notifier is stopping, or has lost this job.',
    }
  }
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
  const deadline = new AbortController()
  const cancelTimer = clock.timer(provider.timeoutMs, () =>
    deadline.abort(new Error(`No answer within ${provider.timeoutMs} ms.`)),
  )
  const signal = AbortSignal.any([stop, deadline.signal])
  const abandoned = abandonAfter(signal, clock)
  try {
    const answer: unknown = await Promise.race([
      provider.plugin.send(message, { ...context, signal }),
      abandoned.promise,
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
    cancelTimer()
    abandoned.cancel()
  }
}

function abandonAfter(
  signal: AbortSignal,
  clock: Clock,
): { readonly promise: Promise<Outcome>; cancel(): void } {
  let cancelTimer = (): void => {}
  let listener = (): void => {}
  const promise = new Promise<Outcome>((resolve) => {
    listener = () => {
      cancelTimer = clock.timer(GRACE_MS, () =>
        resolve({ kind: 'ambiguous', reason: String((signal.reason as Error).message) }),
      )
    }
    signal.addEventListener('abort', listener, { once: true })
  })
  return {
    promise,
    cancel() {
      signal.removeEventListener('abort', listener)
      cancelTimer()
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
