import PQueue from 'p-queue'
import type { ChannelName } from '../../domain/channel.ts'
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
 *
 * @param available is called when slots may have become free
 */
export function createLanes(
  channels: ReadonlyMap<ChannelName, readonly ProviderState[]>,
  notifications: NotificationDelivery,
  events: EventDelivery,
  available: () => void,
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
          void queue.add(task).finally(() => {
            posting -= 1
            available()
          })
        },
        idle: () => queue.onIdle(),
      },
      events,
    )
    endpoints.set(id, { lane, queue })
    return lane
  }

  function forgetIdle(): void {
    for (const [id, { queue }] of endpoints) if (queue.size + queue.pending === 0) endpoints.delete(id)
  }

  return {
    get: (name) => fixed.get(name) ?? (name.startsWith(ENDPOINT_PREFIX) ? endpointLane(name) : undefined),
    running: () => notifications.attempts.running(),
    async idle() {
      await Promise.all(
        [...fixed.values(), ...[...endpoints.values()].map(({ lane }) => lane)].map((lane) => lane.idle()),
      )
    },
  }
}
