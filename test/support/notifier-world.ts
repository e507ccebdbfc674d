import { onTestFinished } from 'vitest'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import type { RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../src/core/tenancy/organization.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { inMemory } from './in-memory.ts'

/** Notifiers that share a storage and a rate limiter, under one virtual time. */
export interface NotifierWorld {
  readonly clock: FakeClock
  readonly storage: Storage
  readonly limiter: RateLimiter
  /** What all of them reported behind the scenes. */
  readonly errors: Error[]
  /** Another one; it is stopped when the test has ended. */
  start(options: Partial<NotifierOptions> & Pick<NotifierOptions, 'channels'>): Promise<Notifier>
  /** The event names of a notification, with the codes of what failed. */
  history(notifier: Notifier, id: string, organizationId?: string): Promise<string[]>
  /** The final status of a notification. */
  ended(notifier: Notifier, id: string, organizationId?: string): Promise<string>
}

const HOUR = 3_600_000
export const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

export function notifierWorld(
  parts: { readonly clock?: FakeClock; readonly storage?: Storage; readonly limiter?: RateLimiter } = {},
): NotifierWorld {
  const clock = parts.clock ?? fakeClock()
  const storage = parts.storage ?? inMemory(clock)
  const limiter = parts.limiter ?? memoryRateLimiter({ clock })
  const errors: Error[] = []
  return {
    clock,
    storage,
    limiter,
    errors,
    async start(options) {
      const notifier = createNotifier({
        clock,
        storage,
        rateLimiter: limiter,
        delivery: { pollMs: HOUR },
        ...options,
      })
      notifier.on('error', (error) => void errors.push(error))
      await notifier.start()
      onTestFinished(async () => {
        const stopped = notifier.stop({ timeoutMs: 1 })
        await clock.advance(60_000)
        await stopped
      })
      return notifier
    },
    async history(notifier, id, organizationId = DEFAULT_ORGANIZATION) {
      const { timeline } = await notifier.organization(organizationId).notifications.get(id)
      return timeline.map(({ event, error }) => (error === null ? event : `${event}: ${error.code}`))
    },
    ended: (notifier, id, organizationId = DEFAULT_ORGANIZATION) =>
      clock.until(async () => {
        const { status } = await notifier.organization(organizationId).notifications.get(id)
        return status === 'queued' || status === 'scheduled' ? null : status
      }),
  }
}
