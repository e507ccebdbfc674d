import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type PostgresTransaction, postgres } from '../../adapters/storage/postgres/index.ts'
import { type SqliteTransaction, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { isNotifierError } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { describeWith } from '../support/left-out.ts'
import { WAIT_MS } from '../support/patience.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const NOTIFICATIONS = 12
const TRANSACTIONS = 10
const SOON = new Date(Date.now() + 3_600_000)
const FAR = new Date(Date.now() + 100 * 24 * 3_600_000)

/** How the caller's transactions are made. */
interface Caller<Tx> {
  open(): Storage<Tx>
  /** Runs `call` in a transaction of its own. */
  within<Answer>(call: (tx: Tx) => Promise<Answer>, end: 'commit' | 'rollBack'): Promise<Answer>
}

const NOW = { sendAt: null }

type Way = 'cancel' | 'put off' | 'send now'

/** What ten transactions do with each notification: the same in the first three, and all of it in the others. */
function wayOf(each: number, n: number): Way {
  const ways = ['send now', 'put off', 'cancel'] as const
  return ways[each] ?? (n === each % TRANSACTIONS ? 'cancel' : n % 2 === 0 ? 'send now' : 'put off')
}

/** Ten transactions change each notification while two notifiers deliver what is due. */
async function race<Tx>({ open, within }: Caller<Tx>): Promise<void> {
  const email = recordingProvider()
  const start = async () => {
    const notifier = createNotifier({ storage: open(), channels: { email }, delivery: { pollMs: 50 } })
    await notifier.start()
    return notifier
  }
  const [notifier, other] = [await start(), await start()]
  const told: string[] = []
  notifier.on('notification.cancelled', ({ data }) => void told.push(data.id))
  const sent = () => email.calls.map(({ context }) => context.notificationId).toSorted()
  const soon = { channel: 'email', to: 'ada@example.com', body: 'x', sendAt: SOON } as const
  const { items } = await notifier.sendBatch(Array(NOTIFICATIONS).fill(soon))
  const ids = items.flatMap((item) => ('id' in item ? [item.id] : []))

  const won = new Map<string, Way[]>(ids.map((id) => [id, []]))
  const change = async (id: string, way: Way, n: number): Promise<void> => {
    const end = n % 4 === 3 ? 'rollBack' : 'commit'
    // Deliveries begin between them.
    await sleep(5 * n)
    try {
      await within<unknown>(
        (tx) =>
          way === 'cancel'
            ? notifier.notifications.cancel(id, { tx })
            : notifier.notifications.reschedule(id, way === 'put off' ? { sendAt: FAR } : NOW, { tx }),
        end,
      )
      if (end === 'commit') won.get(id)?.push(way)
    } catch (error) {
      if (!isNotifierError(error)) throw error
      expect(['not_cancellable', 'not_reschedulable']).toContain(error.code)
    }
  }
  await Promise.all(
    ids.flatMap((id, each) => Array.from({ length: TRANSACTIONS }, (_, n) => change(id, wayOf(each, n), n))),
  )

  const goes: string[] = []
  const cancelled: string[] = []
  for (const id of ids) {
    const { status, sendAt, timeline } = await notifier.notifications.get(id)
    const entries = timeline.map(({ event }) => event)
    const count = (event: string) => entries.filter((entry) => entry === event).length
    const ways = won.get(id) ?? []
    const cancels = ways.filter((way) => way === 'cancel').length
    // Nothing that was told is missing, and nothing else happened.
    expect([count('cancelled'), count('rescheduled')]).toEqual([cancels, ways.length - cancels])
    expect(cancels).toBe(status === 'cancelled' ? 1 : 0)
    if (cancels > 0) cancelled.push(id)
    else if (sendAt !== FAR.toISOString()) goes.push(id)
  }
  expect([goes, cancelled].map((some) => ids.slice(0, 3).filter((id) => some.includes(id)))).toEqual([
    [ids[0]],
    [ids[2]],
  ])
  await expect.poll(sent, { timeout: WAIT_MS }).toEqual(goes.toSorted())
  await expect.poll(() => told.toSorted(), { timeout: WAIT_MS }).toEqual(cancelled.toSorted())
  await Promise.all([notifier.stop(), other.stop()])
  expect(sent()).toEqual(goes.toSorted())
}

describe('on SQLite, of sent, moved and cancelled', () => {
  it('exactly one wins', async () => {
    const { file, remove } = temporaryFile()
    const undone = new Error('undone')
    await race<SqliteTransaction>({
      open: () => sqlite({ file, synchronous: 'normal' }),
      async within(call, end) {
        const answer = await call(() => {
          if (end === 'rollBack') throw undone
        }).catch((error: unknown) => {
          if (error !== undone) throw error
        })
        return answer as never
      },
    })
    remove()
  })
})

describeWith(whyNoPostgres(), 'on PostgreSQL, of sent, moved and cancelled', () => {
  it('exactly one wins', async () => {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    const pool = new pg.Pool({ connectionString: url, max: 12 })
    pool.on('error', () => {})
    await race<PostgresTransaction>({
      open: () => postgres({ connectionString: url, schema, maxConnections: 4 }),
      async within(call, end) {
        const client = await pool.connect()
        try {
          await client.query('BEGIN')
          const answer = await call(client)
          // Others meet it open.
          await sleep(5)
          await client.query(end === 'commit' ? 'COMMIT' : 'ROLLBACK')
          return answer
        } catch (error) {
          await client.query('ROLLBACK')
          throw error
        } finally {
          client.release()
        }
      },
    })
    await pool.end()
  })
})
