import { laneParts, ownLane, type ProviderRegistry } from '../channels/provider-registry.ts'
import type { ProviderSet } from '../channels/providers.ts'
import type { LaneDemand } from '../ports/storage/claim.ts'
import { DEFAULT_ORGANIZATION } from '../tenancy/organization.ts'
import { createEventLane, type EventDelivery } from './event-lane.ts'
import type { Lane, Lanes, SlotPool } from './lane.ts'
import { createListenerLane, type ListenerDelivery } from './listener-lane.ts'
import { isListener, type Listener, type Listeners } from './listeners.ts'
import type { ProviderHealth, WaitingLane } from './model.ts'
import { createNotificationLane, type NotificationDelivery, type ProviderGroup } from './notification-lane.ts'
import { createOrganizationLane, type OrganizationLane } from './organization-lane.ts'
import { createPlainLane } from './plain-lane.ts'
import { type Demand, permittedSlots, share } from './share.ts'
import { createSlots, type Slots } from './slots.ts'
import { createTally } from './tally.ts'

/** The lanes of a process with their state. */
export interface LaneSet extends Lanes {
  providers(): readonly ProviderHealth[]
  /** Checks whether paused providers of all organizations have worked in other processes. Never rejects. */
  refresh(): Promise<unknown>
  /** Lanes with work and no available provider here. @param due lanes with work */
  waiting(due: Iterable<string>): readonly WaitingLane[]
}

/** The lane of providers that serve several organizations. */
type SharedLane = Required<Lane> & { readonly pool: SlotPool }

/** A lane with demand. */
interface Wanted {
  readonly name: string
  readonly lane: Lane
  readonly free: number
}

export interface LaneSetOptions {
  readonly registry: ProviderRegistry
  readonly notifications: NotificationDelivery
  readonly events: EventDelivery & ListenerDelivery
  readonly listeners: Listeners
  group(set: ProviderSet): ProviderGroup
  wakeIn(ms: number): void
  /** A slot has become free. */
  freed(): void
}

/** Concurrent requests per endpoint, so that a slow one delays only itself, and in total. */
const PER_ENDPOINT = 10
const ALL_ENDPOINTS = 200

/** Maximum number of idle lanes of endpoints and organizations to keep. */
const KEPT = 1_000
const KEPT_OWNERS = 100_000
/** Maximum number of lanes and of providers to show. */
const SHOWN_LANES = 100
const SHOWN_PROVIDERS = 1_000

const ENDPOINT_PREFIX = 'wh_'

/**
 * The lanes of a process: one for each configured channel, and one for each webhook endpoint and each organization with
 * its own providers that has work.
 */
export function createLanes(options: LaneSetOptions): LaneSet {
  const { registry, notifications, events } = options
  const groups: ProviderGroup[] = []
  const shared = new Map<string, SharedLane>()
  const plain = new Map<string, Lane>()
  const endpoints = new Map<string, { readonly lane: Lane; readonly slots: Slots }>()
  const listenerLanes = new WeakMap<Listener, Lane>()
  /** The owners of endpoints. An unknown endpoint counts as its own owner. */
  const owners = new Map<string, string>()
  const organizations = new Map<string, OrganizationLane>()
  /** Lanes whose unused permits can be returned. */
  const prepared = new Set<Lane>()
  /** Requests to endpoints by organization. */
  const posts = createTally()
  const leftPosts = (): number => ALL_ENDPOINTS - posts.all()
  const postPool: SlotPool = { free: leftPosts, empty: leftPosts, used: () => posts.of }
  /** A shared provider has had a message of an organization other than the default one. */
  let several = false
  /** Rotates which lane comes first when lanes share the rest. */
  let turn = 0

  for (const channel of registry.channels) {
    const set = registry.shared(channel)
    const instances = registry.own(channel)
    if (set !== null) {
      const group = options.group(set)
      groups.push(group)
      shared.set(channel, sharedLane(createNotificationLane(group, notifications, exempt)))
    } else if (instances !== null) {
      plain.set(
        channel,
        createPlainLane(instances, (id) => organizationLane(channel, id)),
      )
    }
  }

  /** An application without other organizations has all slots for its own. */
  function exempt(): string | null {
    return several ? null : DEFAULT_ORGANIZATION
  }

  function sharedLane(lane: Required<Lane>): SharedLane {
    return {
      ...lane,
      pool: lane.pool as SlotPool,
      run(job) {
        several ||= job.organizationId !== DEFAULT_ORGANIZATION
        return lane.run(job)
      },
    }
  }

  /** A shared lane as one organization may use it. */
  function partOf(lane: SharedLane | null, organizationId: string): SharedLane | null {
    if (lane === null) return null
    const { pool } = lane
    const most = (): number =>
      organizationId === exempt()
        ? Number.POSITIVE_INFINITY
        : permittedSlots(pool.empty(), pool.used().get(organizationId) ?? 0)
    return {
      ...lane,
      free: () => Math.min(lane.free(), most()),
      room: () => Math.min(lane.room(), most()),
    }
  }

  function endpointLane(id: string): Lane {
    const known = endpoints.get(id)
    if (known !== undefined) return known.lane
    if (endpoints.size >= KEPT) forgetIdle()
    const slots = createSlots(PER_ENDPOINT, options.freed, posts)
    const free = (): number => Math.min(slots.free(), permittedSlots(leftPosts(), slots.busy()))
    const eventLane = createEventLane({ free, run: slots.run }, events)
    const lane: Lane = {
      ...eventLane,
      pool: postPool,
      run(job) {
        if (job.kind === 'event') own(id, job.delivery.endpoint.organizationId)
        return eventLane.run(job)
      },
    }
    endpoints.set(id, { lane, slots })
    return lane
  }

  /** Undefined: this process has no handler. */
  function listenerLane(id: string): Lane | undefined {
    const listener = options.listeners.get(id)
    if (listener === undefined) return undefined
    const known = listenerLanes.get(listener)
    if (known !== undefined) return known
    const slots = createSlots(listener.concurrency, options.freed, createTally())
    const lane = createListenerLane(listener, slots, events)
    listenerLanes.set(listener, lane)
    return lane
  }

  function own(endpoint: string, organizationId: string): void {
    if (owners.size >= KEPT_OWNERS && !owners.has(endpoint)) {
      const [oldest] = owners.keys()
      owners.delete(oldest as string)
    }
    owners.set(endpoint, organizationId)
  }

  /** Divides the slots of a pool among its lanes. */
  function divided(pool: SlotPool, lanes: readonly Wanted[]): LaneDemand[] {
    const [slots, empty, used] = [pool.free(), pool.empty(), pool.used()]
    turn += slots
    const demands = lanes.map((lane) => demandOf(lane, pool))
    const shares = share(slots, demands, used, turn, empty)
    const left = shares.reduce((sum, each) => sum - each, empty)
    return lanes.flatMap(({ name, lane: { begin } }, index) => {
      const free = shares[index] ?? 0
      if (free === 0) return []
      if (!shared.has(name)) return [{ lane: name, free, begin }]
      return [{ lane: name, free, begin, shared: { empty: left + free, used, exempt: exempt() } }]
    })
  }

  function demandOf({ name, free: most }: Wanted, pool: SlotPool): Demand {
    if (pool === postPool)
      return { most, used: endpoints.get(name)?.slots.busy() ?? 0, owner: owners.get(name) ?? name }
    const { organizationId: owner } = laneParts(name)
    // The lane of all other organizations.
    if (owner === null) return { most, used: 0, owner: name, exempt: true }
    return { most, used: pool.used().get(owner) ?? 0, owner, exempt: owner === exempt() }
  }

  function forgetIdle(): void {
    for (const [id, { slots }] of endpoints) if (slots.busy() === 0) endpoints.delete(id)
  }

  function organizationLane(channel: string, organizationId: string): Required<Lane> {
    const instances = registry.own(channel)
    const everybodys = shared.get(channel) ?? null
    // The channel no longer has organization providers: such jobs go through the shared lane.
    if (instances === null) return everybodys as Required<Lane>
    const name = ownLane(channel, organizationId)
    const known = organizations.get(name)
    if (known !== undefined) return known
    if (organizations.size >= KEPT) {
      for (const [other, lane] of organizations) if (lane.idle()) organizations.delete(other)
    }
    const { group, wakeIn } = options
    const lane = createOrganizationLane({
      channel,
      organizationId,
      instances,
      shared: partOf(everybodys, organizationId),
      delivery: notifications,
      group,
      wakeIn,
    })
    organizations.set(name, lane)
    return lane
  }

  function get(name: string): Lane | undefined {
    if (isListener(name)) return listenerLane(name)
    if (name.startsWith(ENDPOINT_PREFIX)) return endpointLane(name)
    const { channel, organizationId } = laneParts(name)
    if (!registry.channels.includes(channel)) return undefined
    if (organizationId !== null) return organizationLane(channel, organizationId)
    return shared.get(channel) ?? plain.get(channel)
  }

  return {
    get,
    prepare(names) {
      const asked: Promise<unknown>[] = []
      for (const name of names) {
        const lane = get(name)
        if (lane?.prepare === undefined) continue
        prepared.add(lane)
        const asking = lane.prepare()
        if (asking !== undefined) asked.push(asking)
      }
      return asked.length === 0 ? undefined : Promise.all(asked)
    },
    demand(names) {
      const alone: LaneDemand[] = []
      const pools = new Map<SlotPool, Wanted[]>()
      for (const name of names) {
        const lane = get(name)
        const free = lane?.free() ?? 0
        if (lane === undefined || free === 0) continue
        if (lane.pool == null) alone.push({ lane: name, free, begin: lane.begin })
        else {
          const sharers = pools.get(lane.pool) ?? []
          sharers.push({ name, lane, free })
          pools.set(lane.pool, sharers)
        }
      }
      return [...alone, ...[...pools].flatMap(([pool, lanes]) => divided(pool, lanes))]
    },
    giveBack() {
      for (const lane of prepared) lane.giveBack?.()
      prepared.clear()
    },
    providers() {
      const own = [...organizations.values()].flatMap((lane) => lane.states())
      return [...groups.flatMap(({ states }) => states), ...own]
        .slice(0, SHOWN_PROVIDERS)
        .map((state) => state.health())
    },
    refresh: () => Promise.all(groups.flatMap(({ states }) => states).map((state) => state.refresh())),
    waiting(due) {
      const unserved = [...due].filter((name) => get(name) === undefined)
      const waiting: WaitingLane[] = unserved.map((lane) => ({
        lane,
        reason: isListener(lane) ? 'not_registered' : 'channel_not_configured',
      }))
      for (const [name, lane] of organizations) {
        const reason = lane.blocked()
        if (reason !== null) waiting.push({ lane: name, reason })
      }
      return waiting.slice(0, SHOWN_LANES)
    },
  }
}
