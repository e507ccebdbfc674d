import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProviderRegistry } from './provider-registry.ts'

/** What the `check()` of a provider found. */
export interface CheckedProvider {
  readonly channel: string
  readonly name: string
  /** `unknown`: it has no `check()`. */
  readonly result: 'works' | 'fails' | 'unknown'
  /** Why it fails. Null: it does not. */
  readonly reason: string | null
  /** Of a mail provider, the addresses and domains from which it sends. */
  readonly senders: readonly string[]
}

const CHECK_MS = 30_000

/** Asks each provider that serves all organizations, at the same time. Never rejects. */
export function checkProviders(
  { channels, shared }: Pick<ProviderRegistry, 'channels' | 'shared'>,
  clock: Clock,
): Promise<readonly CheckedProvider[]> {
  const providers = channels.flatMap((channel) => shared(channel)?.providers ?? [])
  return Promise.all(
    providers.map(async ({ channel, name, plugin }): Promise<CheckedProvider> => {
      const senders = channel === 'email' ? (plugin.senders ?? []) : []
      if (plugin.check === undefined) return { channel, name, result: 'unknown', reason: null, senders }
      let reason: string | null = `check() has not ended within ${CHECK_MS / 1_000} s.`
      async function ask(): Promise<void> {
        try {
          await plugin.check?.()
          reason = null
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error)
        }
      }
      await within(ask(), CHECK_MS, clock)
      return { channel, name, result: reason === null ? 'works' : 'fails', reason, senders }
    }),
  )
}
