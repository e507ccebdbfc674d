import type { ChannelKind } from '../../../../src/domain/channel-kind.ts'
import type { Provider } from '../../../../src/ports/provider.ts'

/** What every provider over HTTP says of itself. */
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
    // The deadline of the request itself comes first and knows more about what happened.
    timeoutMs: timeoutMs + 1_000,
    onAmbiguous,
    retry,
  }
}
