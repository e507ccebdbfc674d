import type { Outcome } from '../../domain/outcome.ts'
import type { Message, SendContext } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Provider } from '../providers.ts'

/** How long a provider may ignore its signal before its attempt is given up. */
const GRACE_MS = 2_000

const KINDS: ReadonlySet<unknown> = new Set(['accepted', 'rejected', 'retry', 'ambiguous'])

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
): Promise<Outcome> {
  const deadline = new AbortController()
  const cancelTimer = clock.timer(provider.timeoutMs, () =>
    deadline.abort(new Error(`No answer within ${provider.timeoutMs} ms.`)),
  )
  const signal = AbortSignal.any([stop, deadline.signal])
  const abandoned = abandonAfter(signal, clock)
  try {
    const outcome = await Promise.race([
      provider.plugin.send(message, { ...context, signal }),
      abandoned.promise,
    ])
    if (typeof outcome === 'object' && KINDS.has(outcome?.kind)) return outcome
    return { kind: 'ambiguous', reason: `The provider "${provider.name}" answered with no outcome.` }
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
