import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import { parseOptions } from '../tenancy/scope.ts'
import type { Notifications, Outcomes } from './api.ts'
import type { NotificationRecord, WaitOptions } from './model.ts'

/** Interval of polls, which find the work of other processes. */
const POLL_MS = 500
const DEFAULT_TIMEOUT_MS = 30_000
/** Longest delay of a timer. */
const MOST_MS = 0x7fffffff
const TIMEOUT = `must be a number of milliseconds from 1 to ${MOST_MS}`

const waitOptions: z.ZodType<WaitOptions> = z.strictObject({
  timeoutMs: z.number(TIMEOUT).min(1, TIMEOUT).max(MOST_MS, TIMEOUT).optional(),
})

/** A caller that waits for a notification. */
interface Wait {
  look(): void
  fail(error: NotifierError): void
}

type Get = PerTenant<Notifications>['get']

/** The callers of `waitFor`. */
export interface Waits {
  /** The method `waitFor` of tenants. @param get reads a notification */
  waitFor(get: Get): PerTenant<Outcomes>['waitFor']
  /** This process has recorded an event of a notification. */
  heard(id: string): void
  /** Rejects all waits with an error. */
  end(error: NotifierError): void
}

export function createWaits(clock: Clock): Waits {
  const waits = new Map<string, Set<Wait>>()
  let keepAlive: NodeJS.Timeout | undefined

  function enter(id: string, wait: Wait): void {
    const others = waits.get(id) ?? new Set()
    waits.set(id, others.add(wait))
    // Keeps the process alive while a caller waits, even if another process delivers.
    keepAlive ??= setInterval(() => {}, MOST_MS)
  }

  function leave(id: string, wait: Wait): void {
    const others = waits.get(id)
    others?.delete(wait)
    if (others?.size === 0) waits.delete(id)
    if (waits.size > 0) return
    clearInterval(keepAlive)
    keepAlive = undefined
  }

  async function waitFor(
    get: Get,
    organizationId: string,
    id: string,
    options: WaitOptions | undefined,
  ): Promise<NotificationRecord> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = parseOptions(waitOptions, options)
    return new Promise<NotificationRecord>((resolve, reject) => {
      let last: NotificationRecord | null = null
      let [over, looking, again] = [false, false, false]
      let cancelPoll = (): void => {}
      const cancelTimeout = clock.timer(timeoutMs, () => wait.fail(timedOut(id, last, timeoutMs)))
      const wait: Wait = { look: () => void look(), fail }
      enter(id, wait)
      wait.look()

      function close(): void {
        over = true
        cancelPoll()
        cancelTimeout()
        leave(id, wait)
      }

      function fail(error: unknown): void {
        if (over) return
        close()
        reject(error)
      }

      async function read(): Promise<void> {
        try {
          const record = await get(organizationId, id)
          last = record
          if (over || record.status === 'queued' || record.status === 'scheduled') return
          close()
          resolve(record)
        } catch (error) {
          fail(error)
        }
      }

      async function look(): Promise<void> {
        if (looking) {
          again = true
          return
        }
        looking = true
        cancelPoll()
        do {
          again = false
          await read()
        } while (again && !over)
        looking = false
        if (!over) cancelPoll = clock.timer(POLL_MS, wait.look)
      }
    })
  }

  return {
    waitFor: (get) => (organizationId, id, options) => waitFor(get, organizationId, id, options),
    heard(id) {
      for (const wait of waits.get(id) ?? []) wait.look()
    },
    end(error) {
      for (const wait of [...waits.values()].flatMap((some) => [...some])) wait.fail(error)
    },
  }
}

function timedOut(id: string, last: NotificationRecord | null, timeoutMs: number): NotifierError {
  const status = last?.status ?? null
  const found = status === null ? 'has not been read' : `is still "${status}"`
  const error = last?.error ?? null
  return new NotifierError('wait_timeout', {
    message:
      `The notification "${id}" ${found} after ${timeoutMs} ms. waitFor() waits until it is sent, has failed or is ` +
      `cancelled.${error === null ? '' : ` Its error is ${error.code}: ${error.message}`}`,
    details: { id, status, timeoutMs },
  })
}
