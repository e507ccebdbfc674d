import { PROVIDER_RETRY, type RetryPolicy } from '../delivery/retry-delay.ts'
import type { Provider } from '../ports/provider.ts'
import type { ChannelKind } from './channel-kind.ts'

/** A configured provider with all defaults. */
export interface ConfiguredProvider {
  readonly name: string
  readonly channel: string
  readonly kind: ChannelKind
  /** The organization that owns the instance. Null: it serves all. */
  readonly organizationId: string | null
  readonly plugin: Provider
  readonly maxConcurrent: number
  /** Null: no limit. */
  readonly maxPerSecond: number | null
  readonly timeoutMs: number
  readonly retry: RetryPolicy
  readonly onAmbiguous: 'retry' | 'fail'
}

/** The providers of one lane. */
export interface ProviderSet {
  /** At least one, in order. */
  readonly providers: readonly ConfiguredProvider[]
  /** The share of each by name. Null: the first available provider gets the message. */
  readonly weights: ReadonlyMap<string, number> | null
}

const DEFAULT_CONCURRENT = 10
const DEFAULT_TIMEOUT_MS = 30_000

/** Applies the defaults of the port. */
export function configuredProvider(
  plugin: Provider,
  kind: ChannelKind,
  organizationId: string | null = null,
): ConfiguredProvider {
  return {
    name: plugin.name,
    channel: kind.name,
    kind,
    organizationId,
    plugin,
    maxConcurrent: plugin.maxConcurrent ?? DEFAULT_CONCURRENT,
    maxPerSecond: plugin.maxPerSecond ?? null,
    timeoutMs: plugin.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retry: plugin.retry ?? PROVIDER_RETRY,
    onAmbiguous: plugin.onAmbiguous ?? 'retry',
  }
}
