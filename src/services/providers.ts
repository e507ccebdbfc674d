import type { ChannelName } from '../domain/channel.ts'
import { PROVIDER_RETRY, type RetryPolicy } from '../domain/retry.ts'
import type { Channel } from '../ports/channel.ts'

/** A configured provider with every default filled in. */
export interface Provider {
  readonly name: string
  readonly channel: ChannelName
  readonly plugin: Channel
  readonly maxConcurrent: number
  readonly timeoutMs: number
  readonly retry: RetryPolicy
  readonly onAmbiguous: 'retry' | 'fail'
}

/** The configured providers by channel, in the order of preference. */
export type Providers = ReadonlyMap<ChannelName, readonly Provider[]>

const DEFAULT_CONCURRENT = 10
const DEFAULT_TIMEOUT_MS = 30_000

/** Fills in the defaults that the port's documentation promises. */
export function providerOf(plugin: Channel): Provider {
  return {
    name: plugin.name,
    channel: plugin.channel,
    plugin,
    maxConcurrent: plugin.maxConcurrent ?? DEFAULT_CONCURRENT,
    timeoutMs: plugin.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retry: plugin.retry ?? PROVIDER_RETRY,
    onAmbiguous: plugin.onAmbiguous ?? 'retry',
  }
}

/** Whether a provider takes this recipient. One that throws over it does not. */
export function accepts(provider: Provider, to: string): boolean {
  try {
    return provider.plugin.accepts?.(to) ?? true
  } catch {
    return false
  }
}
