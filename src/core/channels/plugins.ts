import { wrong } from '../input/option-checks.ts'
import { inTime, OPEN_MS } from '../loop/within.ts'
import { faultsOf } from '../observe/faults-of.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProxyFor } from '../ports/outgoing.ts'
import type { Provider } from '../ports/provider.ts'
import type { ProviderSet } from './providers.ts'

/** Counts the users of open plug-ins, so that the last user closes each once. */
export interface OpenPlugins {
  /** @throws NotifierError `invalid_configuration` if one of them is closed: it cannot be used again */
  open(set: ProviderSet): void
  /** Closes the plug-ins without other users. Never rejects. */
  close(set: ProviderSet): Promise<void>
}

/** Opens the providers of a set before their first message. */
export async function openAll({ providers }: ProviderSet, clock: Clock, proxyFor: ProxyFor): Promise<void> {
  await Promise.all(
    providers.map(({ name, plugin }) =>
      inTime(`provider "${name}"`, async () => plugin.open?.({ proxyFor }), OPEN_MS, clock),
    ),
  )
}

/** @param onError receives errors of `close` */
export function createOpenPlugins(onError: (error: unknown) => void): OpenPlugins {
  const holders = new Map<Provider, number>()
  const closed = new WeakSet<Provider>()

  async function close(plugin: Provider): Promise<void> {
    const left = (holders.get(plugin) ?? 1) - 1
    if (left > 0) {
      holders.set(plugin, left)
      return
    }
    holders.delete(plugin)
    closed.add(plugin)
    try {
      await plugin.close?.()
    } catch (error) {
      faultsOf(`provider "${plugin.name}"`, onError)(error)
    }
  }

  return {
    open({ providers }) {
      for (const { plugin, channel, organizationId } of providers) {
        if (closed.has(plugin) && plugin.close !== undefined)
          throw wrong(`channels.${channel}(${organizationId})`, 'a new provider: this one was closed')
      }
      for (const { plugin } of providers) holders.set(plugin, (holders.get(plugin) ?? 0) + 1)
    },
    async close({ providers }) {
      await Promise.all(providers.map(({ plugin }) => close(plugin)))
    },
  }
}
