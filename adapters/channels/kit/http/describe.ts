import type { ChannelKind } from '../../../../src/domain/channel-kind.ts'
import type { Provider } from '../../../../src/ports/provider.ts'

/** The properties of every HTTP provider. */
export function describeProvider<Kind extends ChannelKind>(
  kind: Kind,
  given: {
    readonly [Option in 'name' | 'maxConcurrent' | 'maxPerSecond' | 'onAmbiguous' | 'retry']: Provider[Option]
  } & { readonly timeoutMs: number },
): Omit<Provider<Kind>, 'send'> {
  const { name, maxConcurrent, maxPerSecond, timeoutMs, onAmbiguous, retry } = given
  return {
    name,
    kind,
    maxConcurrent,
    maxPerSecond,
    // The request's own deadline comes first and produces a better message.
    timeoutMs: timeoutMs + 1_000,
    onAmbiguous,
    retry,
  }
}
