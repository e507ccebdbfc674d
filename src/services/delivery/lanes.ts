import PQueue from 'p-queue'
import type { ChannelName } from '../../domain/channel.ts'
import type { LaneDemand } from '../../ports/storage/claim.ts'
import { createEventLane, type EventDelivery } from './event-lane.ts'
import type { Lane, Lanes } from './lane.ts'
import { createNotificationLane, type NotificationDelivery } from './notification-lane.ts'
import type { ProviderState } from './provider-state.ts'

/** Requests under way to one endpoint, so that a slow one holds up only itself, and to all together. */
const PER_ENDPOINT = 5
const ALL_ENDPOINTS = 100

/** An endpoint's lane that has been idle is forgotten when there are more than this. */
const KEPT_ENDPOINTS = 1_000

const ENDPOINT_PREFIX = 'wh_'

/**
 * The lanes of one process: a fixed one for each configured channel, one for each webhook endpoint that has work.
 */
export function createLanes(
  channels: ReadonlyMap<ChannelName, readonly ProviderState[]>,
  notifications: NotificationDelivery,
  events: EventDelivery,
): Lanes {
  const fixed = new Map<string, Lane>()
  for (const [channel, states] of channels) fixed.set(channel, createNotificationLane(states, notifications))
  const endpoints = new Map<string, { readonly lane: Lane; readonly queue: PQueue }>()
  let posting = 0

  function endpointLane(id: string): Lane {
    const known = endpoints.get(id)
    if (known !== undefined) return known.lane
    if (endpoints.size >= KEPT_ENDPOINTS) forgetIdle()
    const queue = new PQueue({ concurrency: PER_ENDPOINT })
    const lane = createEventLane(
      {
        free: () => Math.max(0, Math.min(PER_ENDPOINT - queue.size - queue.pending, ALL_ENDPOINTS - posting)),
        run(task) {
          posting += 1
          return queue.add(task).finally(() => {
            posting -= 1
          })
        },
      },
      events,
    )
    endpoints.set(id, { lane, queue })
    return lane
  }

  function forgetIdle(): void {
    for (const [id, { queue }] of endpoints) if (queue.size + queue.pending === 0) endpoints.delete(id)
  }

  function get(name: string): Lane | undefined {
    return fixed.get(name) ?? (name.startsWith(ENDPOINT_PREFIX) ? endpointLane(name) : undefined)
  }

  return {
    get,
    demand(names) {
      const demand: LaneDemand[] = []
      let posts = ALL_ENDPOINTS - posting
      for (const name of names) {
        const own = get(name)?.free() ?? 0
        const free = fixed.has(name) ? own : Math.min(own, posts)
        if (free <= 0) continue
        if (!fixed.has(name)) posts -= free
        demand.push({ lane: name, free })
      }
      return demand
    },
  }
}
