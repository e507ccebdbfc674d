import { throttledEach } from '../loop/throttled.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProxyFor } from '../ports/outgoing.ts'
import type { ChannelSources } from './channel-option.ts'
import { createInstances, type Instances } from './instances.ts'
import type { Kinds } from './kinds.ts'
import { createOpenPlugins, openAll } from './plugins.ts'
import { createProviderChecks, type ProviderChecks } from './provider-checks.ts'
import type { ConfiguredProvider, ProviderSet } from './providers.ts'

/** The providers of a process, by channel and organization. */
export interface ProviderRegistry extends ProviderChecks {
  /** The configured channels. */
  readonly channels: readonly string[]
  readonly kinds: Kinds
  /** The providers of organizations without their own. Null: none. */
  shared(channel: string): ProviderSet | null
  /** The organizations' own providers. Null: the channel has none. */
  own(channel: string): Instances | null
  /** Loads the data for {@link of}. Undefined: it is loaded. Never rejects. */
  warm(channel: string, organizationId: string): Promise<unknown> | undefined
  /** The destination of an organization's notifications on a channel. Null: the channel is not configured for it. */
  of(channel: string, organizationId: string): Destination | null
  /**
   * Finds an instance, loads it if needed, and keeps it open while `work` runs: for receipts.
   *
   * @param organizationId the owner of the instance; null: shared
   * @returns null if there is no such instance
   */
  withInstance<Answer>(
    where: { readonly organizationId: string | null; readonly channel: string; readonly name: string },
    work: (provider: ConfiguredProvider) => Promise<Answer>,
  ): Promise<Answer | null>
  /** Calls the listener when the state of an organization's providers changes. */
  onChange(listener: (channel: string, organizationId: string) => void): void
  /** Opens the shared providers. Those of organizations are opened when they are loaded. */
  open(): Promise<void>
  /** Closes all providers. Never rejects. */
  close(): Promise<void>
}

export interface Destination {
  /** Stored with the notification's job. */
  readonly lane: string
  /** Null: unknown now, because the function that makes them failed. */
  readonly providers: readonly ConfiguredProvider[] | null
}

/** Separates channel and organization in the name of an organization's lane. */
const OF = '@'

/** The lane of an organization's own providers. */
export function ownLane(channel: string, organizationId: string): string {
  return `${channel}${OF}${organizationId}`
}

/** Parses a lane's name. `organizationId` is null for a shared lane. */
export function laneParts(lane: string): {
  readonly channel: string
  readonly organizationId: string | null
} {
  const at = lane.indexOf(OF)
  if (at < 0) return { channel: lane, organizationId: null }
  return { channel: lane.slice(0, at), organizationId: lane.slice(at + OF.length) }
}

export interface ProviderRegistryOptions {
  readonly sources: ChannelSources
  readonly kinds: Kinds
  readonly clock: Clock
  readonly leaseMs: number
  readonly proxyFor: ProxyFor
  onError(error: unknown): void
}

export function createProviderRegistry({
  sources,
  kinds,
  clock,
  leaseMs,
  proxyFor,
  onError,
}: ProviderRegistryOptions): ProviderRegistry {
  const plugins = createOpenPlugins(onError)
  const own = new Map<string, Instances>()
  let listener = (_channel: string, _organizationId: string): void => {}
  const everybodys = new Map<string, Destination>()
  for (const [channel, { kind, shared, perOrganization }] of sources) {
    if (shared !== null) {
      plugins.open(shared)
      everybodys.set(channel, { lane: channel, providers: shared.providers })
    }
    if (perOrganization === null) continue
    const changed = (organizationId: string): void => listener(channel, organizationId)
    own.set(
      channel,
      createInstances({ kind, make: perOrganization, plugins, clock, leaseMs, proxyFor, onError, changed }),
    )
  }

  const shared = (channel: string): ProviderSet | null => sources.get(channel)?.shared ?? null

  const checks = createProviderChecks(throttledEach<Error>(onError, () => clock.monotonic()))

  return {
    channels: [...sources.keys()],
    kinds,
    ...checks,
    shared,
    own: (channel) => own.get(channel) ?? null,
    warm(channel, organizationId) {
      const instances = own.get(channel)
      instances?.load(organizationId)
      return instances?.loaded(organizationId)
    },
    of(channel, organizationId) {
      const instances = own.get(channel)
      const theirs = instances?.known(organizationId)
      if (instances === undefined || (theirs?.kind === 'loaded' && theirs.set === null))
        return everybodys.get(channel) ?? null
      const providers = theirs?.kind === 'loaded' ? (theirs.set?.providers ?? null) : null
      return { lane: ownLane(channel, organizationId), providers }
    },
    async withInstance({ organizationId, channel, name }, work) {
      const named = (set: ProviderSet | null): ConfiguredProvider | undefined =>
        set?.providers.find((provider) => provider.name === name)
      if (organizationId === null) {
        const provider = named(shared(channel))
        return provider === undefined ? null : work(provider)
      }
      const instances = own.get(channel)
      if (instances === undefined) return null
      instances.load(organizationId)
      await instances.loaded(organizationId)
      const known = instances.known(organizationId)
      const provider = known?.kind === 'loaded' ? named(known.set) : undefined
      if (provider === undefined) return null
      const letGo = instances.hold(organizationId)
      try {
        return await work(provider)
      } finally {
        letGo()
      }
    },
    onChange(called) {
      listener = called
    },
    async open() {
      await Promise.all(
        [...sources.values()].map(async (source) => source.shared && openAll(source.shared, clock, proxyFor)),
      )
    },
    async close() {
      const sets = [...sources.values()].flatMap((source) => (source.shared === null ? [] : [source.shared]))
      await Promise.all([
        ...[...own.values()].map((instances) => instances.close()),
        ...sets.map((set) => plugins.close(set)),
      ])
    },
  }
}
