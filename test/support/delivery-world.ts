import type { NotificationEvent } from '../../src/core/notification/event-payload.ts'
import { EVENT_TYPES } from '../../src/core/notification/facts.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import type { Behaviour, RecordingProvider } from '../../src/testing/recording-provider.ts'
import { inMemory } from './in-memory.ts'
import { notifierWorld } from './notifier-world.ts'

/** One notifier in virtual time. */
export interface DeliveryWorld {
  readonly clock: FakeClock
  readonly notifier: Notifier
  /** The storage without its `wrap`. */
  readonly storage: Storage
  readonly events: NotificationEvent[]
  readonly errors: Error[]
  status(id: string): Promise<string>
  /** The event names of a notification, with the codes of what failed. */
  history(id: string): Promise<string[]>
  /** The final status of a notification. */
  ended(id: string): Promise<string>
}

/**
 * @param email the providers of e-mail
 * @param wrap methods that replace those of the storage
 */
export async function deliveryWorld(
  email: readonly RecordingProvider[],
  options: Partial<NotifierOptions> & { readonly wrap?: (storage: Storage) => Partial<Storage> } = {},
): Promise<DeliveryWorld> {
  const { wrap, storage: given, ...others } = options
  const clock = fakeClock()
  const storage = given ?? inMemory(clock)
  const world = notifierWorld({ clock, storage: { ...storage, ...wrap?.(storage) } })
  const notifier = await world.start({ channels: { email }, ...others })
  const events: NotificationEvent[] = []
  for (const type of EVENT_TYPES) notifier.on(type, (event) => void events.push(event))
  return {
    clock,
    notifier,
    storage,
    events,
    errors: world.errors,
    status: async (id) => (await notifier.notifications.get(id)).status,
    history: (id) => world.history(notifier, id),
    ended: (id) => world.ended(notifier, id),
  }
}

/** A provider that answers every message so. */
export const retry =
  (scope: string, more: object = {}): Behaviour =>
  async () => ({ kind: 'retry', code: 'provider_unavailable', scope, ...more })

export const rejected =
  (scope: string, code = 'provider_auth_failed'): Behaviour =>
  async () => ({ kind: 'rejected', code, scope })
