import type { ChannelKind } from '../domain/channel-kind.ts'
import { PROVIDER_RETRY, type RetryPolicy } from '../domain/retry.ts'
import type { Provider } from '../ports/provider.ts'

/** A configured provider with every default filled in. */
export interface ConfiguredProvider {
  readonly name: string
  /** The name of its kind. */
  readonly channel: string
  readonly kind: ChannelKind
  /** The organization whose instance this is; null: it serves all. */
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
  /** At least one, in the order in which they are asked. */
  readonly providers: readonly ConfiguredProvider[]
  /** The share of each by its name; null: the first that can take a message gets it. */
  readonly weights: ReadonlyMap<string, number> | null
}

const DEFAULT_CONCURRENT = 10
const DEFAULT_TIMEOUT_MS = 30_000

/** Fills in the defaults that the port's documentation promises. */
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
