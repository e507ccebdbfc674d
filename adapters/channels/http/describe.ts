import type { Channel } from '../../../src/ports/channel.ts'

/** What every provider over HTTP says of itself. */
export function describeProvider(
  channel: Channel['channel'],
  given: {
    readonly [Option in 'name' | 'maxConcurrent' | 'maxPerSecond' | 'onAmbiguous' | 'retry']: Channel[Option]
  } & { readonly timeoutMs: number },
): Omit<Channel, 'send'> {
  const { name, maxConcurrent, maxPerSecond, timeoutMs, onAmbiguous, retry } = given
  return {
    name,
    channel,
    maxConcurrent,
    maxPerSecond,
    // The deadline of the request itself comes first and knows more about what happened.
    timeoutMs: timeoutMs + 1_000,
    onAmbiguous,
    retry,
  }
}
