import type { Notifier } from 'carillon'
import { postgres } from 'carillon/postgres'
import { describeMachine, median, record } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'
import { type Database, fill, notifierOn, withPostgres } from './lib/postgres.ts'

/**
 * Cost of a notification as the tables grow, and its bytes in each table.
 *
 * `CARILLON_BENCH_ROWS=1000000,5000000` sets the numbers of stored notifications; default: one million. They are
 * generated in SQL over three weeks, each with its state and one event. A schema with 10,000 is measured in the same
 * rounds.
 */

const SIZES = (process.env.CARILLON_BENCH_ROWS ?? '1000000').split(',').map(Number)
/** Notifications in the schema of constant size. */
const SMALL = 10_000
const SET = 100
const SETS = 200
const WARM = 30
const MEASURED = 20_000

const VERBS = ['accept', 'claim', 'settle', 'list'] as const
type Verb = (typeof VERBS)[number]

await withPostgres(async (database) => {
  await printWidths(database)
  const small = await open(database, 'small')
  await fill(database, 'small', SMALL)
  const large = await open(database, 'carillon')
  const rows: Record<string, string>[] = []
  let stored = 0
  for (const size of SIZES) {
    await fill(database, 'carillon', size - stored)
    stored = size
    const [some, many] = await measure([small, large])
    rows.push({
      stored: `${size.toLocaleString('en')} beside ${SMALL.toLocaleString('en')}`,
      ...Object.fromEntries(
        VERBS.map((verb) => {
          const [of, to] = [median(many?.[verb] ?? []), median(some?.[verb] ?? [])]
          record({
            title: `With ${size.toLocaleString('en')} notifications stored`,
            name: verb,
            value: of,
            unit: 'µs',
            floor: `with ${SMALL.toLocaleString('en')}`,
            ratio: of / to,
          })
          return [`${verb}, µs each`, `${of.toFixed(0)} / ${to.toFixed(0)} = ${(of / to).toFixed(2)}`]
        }),
      ),
    })
  }
  for (const { close } of [small, large]) await close()
  console.log(describeMachine())
  console.table(rows)
})

/** A schema under test. */
interface Opened {
  readonly notifier: Notifier
  readonly storage: ReturnType<typeof postgres>
  close(): Promise<void>
}

async function open(database: Database, schema: string): Promise<Opened> {
  const notifier = notifierOn(database, 1, { schema })
  await notifier.start({ deliver: false })
  const storage = postgres({ connectionString: database.url, listen: false, schema })
  await storage.start()
  return {
    notifier,
    storage,
    async close() {
      await storage.stop()
      await notifier.stop()
    },
  }
}

/**
 * Measures the schemas in turn, set by set, so that changes of the machine's speed affect all alike. In microseconds
 * each.
 */
async function measure(schemas: readonly Opened[]): Promise<Record<Verb, number[]>[]> {
  const times = schemas.map((): Record<Verb, number[]> => ({ accept: [], claim: [], settle: [], list: [] }))
  const messages = mails(SET)
  for (let turn = -WARM; turn < SETS; turn += 1) {
    for (const [index, { notifier, storage }] of schemas.entries()) {
      const timed = async <Answer>(verb: Verb, units: number, work: () => Promise<Answer>) => {
        const began = performance.now()
        const answer = await work()
        if (turn >= 0) times[index]?.[verb].push(((performance.now() - began) * 1_000) / units)
        return answer
      }
      await timed('accept', SET, () => notifier.sendBatch(messages))
      const { jobs } = await timed('claim', SET, () =>
        storage.claim({ lanes: [{ lane: 'email', free: SET }], leaseMs: 60_000 }),
      )
      await timed('settle', SET, () =>
        storage.settle(
          jobs.map(({ jobId, token }) => ({
            kind: 'notification',
            jobId,
            token,
            facts: [{ type: 'sent', provider: 'none', attempt: 1, durationMs: 0 }],
            next: { kind: 'end' },
          })),
        ),
      )
      await timed('list', 1, () => notifier.logs.list({ limit: 50 }))
    }
  }
  return times
}

/** Uses real rows: each mail sent, reported as delivered, and both events published to one endpoint. */
async function printWidths(database: Database): Promise<void> {
  const notifier = notifierOn(database, 1, { schema: 'widths' })
  await notifier.start({ deliver: false })
  const { id: hook } = await notifier.webhooks.create({ url: 'https://receiver.example.com/hook' })
  const body = 'x'.repeat(300)
  await notifier.sendBatch(mails(MEASURED / 2).map((message) => ({ ...message, body })))
  await notifier.sendBatch(mails(MEASURED / 2).map((message) => ({ ...message, body })))
  await notifier.stop()
  const storage = postgres({ connectionString: database.url, listen: false, schema: 'widths' })
  await storage.start()
  const jobs = [] as { readonly jobId: string; readonly token: number }[]
  for (;;) {
    const claimed = await storage.claim({ lanes: [{ lane: 'email', free: 500 }], leaseMs: 600_000 })
    if (claimed.jobs.length === 0) break
    await storage.settle(
      claimed.jobs.map(({ jobId, token }) => ({
        kind: 'notification',
        jobId,
        token,
        facts: [
          {
            type: 'sent',
            provider: 'smtp',
            attempt: 1,
            durationMs: 112,
            providerMessageId: `<${jobId}@mail.example.com>`,
          },
        ],
        next: { kind: 'end' },
      })),
    )
    await storage.recordReceipts(
      claimed.jobs.map(({ jobId }) => ({
        provider: 'smtp',
        organizationId: null,
        dedupeKey: jobId,
        fact: { type: 'delivered', provider: 'smtp', providerMessageId: `<${jobId}@mail.example.com>` },
      })),
    )
    jobs.push(...claimed.jobs)
  }
  for (;;) {
    const claimed = await storage.claim({ lanes: [{ lane: hook, free: 500 }], leaseMs: 600_000 })
    if (claimed.jobs.length === 0) break
    await storage.settle(
      claimed.jobs.map(({ jobId, token }) => ({
        kind: 'event',
        jobId,
        token,
        attempt: { attempt: 1, status: 200, response: 'OK', durationMs: 40, succeeded: true },
        ended: 'delivered',
        next: { kind: 'end' },
      })),
    )
  }
  await storage.expire({
    what: { receiptsOlderThanMs: null, unmatchedOlderThanMs: 3_600_000, longestMs: null },
    most: 1,
  })
  await storage.stop()
  await database.pool.query('VACUUM ANALYZE')
  const { rows } = await database.pool.query<{ table: string; heap: string; indexes: string; total: string }>(
    `SELECT coalesce(p.relname, c.relname) AS table, sum(pg_relation_size(c.oid)) AS heap,
       sum(pg_indexes_size(c.oid)) AS indexes, sum(pg_total_relation_size(c.oid)) AS total
     FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid LEFT JOIN pg_class AS p ON p.oid = i.inhparent
     WHERE c.relnamespace = 'widths'::regnamespace AND c.relkind = 'r' GROUP BY 1 ORDER BY 4 DESC LIMIT 10`,
  )
  const each = (bytes: string): number => Math.round(Number(bytes) / jobs.length)
  console.log(
    `Bytes of each of ${jobs.length.toLocaleString('en')} mails of 300 bytes, delivered, reported and told`,
  )
  console.table(
    rows.map(({ table, heap, indexes, total }) => ({
      table,
      rows: each(heap),
      indexes: each(indexes),
      'in all': each(total),
    })),
  )
}
