import { postgres } from 'carillon/postgres'
import { type Contender, compare, describeMachine, report } from './lib/measure.ts'
import { mails, sentCount } from './lib/notifiers.ts'
import { type Database, empty, keepBacklog, notifierOn, refill, withPostgres } from './lib/postgres.ts'
import { rawPostgres } from './lib/raw-postgres.ts'

/**
 * The PostgreSQL storage beside the same rows written by hand, on a dedicated server that waits for the disk. Reports
 * the processor time of this process and of the server separately.
 *
 * `node benchmarks/postgres.ts [send] [batch] [deliver] [analyze]`; default: all.
 */

const CALLERS = 50
const SENDS = 10_000
const BATCH = 10_000
const BACKLOG = 30_000
const CONCURRENT = 100
const AFTER_ANALYZE = 50_000
const ROUNDS = 3

const named = process.argv.slice(2)
const wanted = (section: string): boolean => named.length === 0 || named.includes(section)

await withPostgres(async (database) => {
  if (wanted('send')) await measureSends(database)
  if (wanted('batch')) await measureBatches(database)
  if (wanted('deliver')) await measureDeliveries(database)
  if (wanted('analyze')) await measureAfterAnalyze(database)
})

async function print(
  database: Database,
  title: string,
  unit: string,
  contenders: readonly Contender[],
): Promise<void> {
  const rates = await compare(contenders, ROUNDS, database.cpu)
  console.log(describeMachine())
  report(title, unit, rates, contenders[0]?.name ?? '')
}

async function measureSends(database: Database): Promise<void> {
  await empty(database)
  const raw = rawPostgres(database.pool)
  const notifier = notifierOn(database, 1)
  await notifier.start({ deliver: false })
  const message = mails(1)[0]
  if (message === undefined) throw new Error('no message')
  await print(database, 'Durable accepts', 'accepts', [
    { name: `${CALLERS} rows an INSERT by hand`, run: () => raw.insert(SENDS, CALLERS) },
    {
      name: `notifier.send, ${CALLERS} callers`,
      async run() {
        let left = SENDS
        await Promise.all(
          Array.from({ length: CALLERS }, async () => {
            while (left > 0) {
              left -= 1
              await notifier.send(message)
            }
          }),
        )
        return SENDS
      },
    },
  ])
  await notifier.stop()
}

async function measureBatches(database: Database): Promise<void> {
  const raw = rawPostgres(database.pool)
  const notifier = notifierOn(database, 1)
  await notifier.start({ deliver: false })
  const messages = mails(BATCH)
  await print(database, 'Batches of 10,000', 'notifications', [
    {
      name: '10,000 rows an INSERT by hand',
      prepare: () => empty(database),
      run: () => raw.insert(BATCH, BATCH),
    },
    {
      name: 'notifier.sendBatch',
      prepare: () => empty(database),
      run: async () => (await notifier.sendBatch(messages)).accepted,
    },
  ])
  await notifier.stop()
}

async function measureDeliveries(database: Database): Promise<void> {
  await keepBacklog(database, BACKLOG)
  const prepare = (): Promise<void> => refill(database)
  await print(database, `Deliveries from a backlog of ${BACKLOG.toLocaleString('en')}`, 'deliveries', [
    {
      name: `claim, start and settle by hand, ${CONCURRENT} a set`,
      prepare,
      run: () => rawPostgres(database.pool).deliver(CONCURRENT),
    },
    { name: `the storage alone, ${CONCURRENT} a set`, prepare, run: () => deliverByStorage(database) },
    ...[CONCURRENT, 10 * CONCURRENT].map((concurrent) => ({
      name: `Carillon, ${concurrent} under way`,
      prepare,
      run: () => deliverByNotifier(database, concurrent),
    })),
  ])
}

/** Starts a notifier and stops it once the backlog is empty. */
async function deliverByNotifier(database: Database, concurrent: number): Promise<number> {
  const notifier = notifierOn(database, concurrent)
  const sent = sentCount(notifier, BACKLOG)
  await notifier.start()
  await sent
  await notifier.stop()
  return BACKLOG
}

/** The storage's operations without the engine. */
async function deliverByStorage({ url }: Database): Promise<number> {
  const storage = postgres({ connectionString: url, listen: false })
  await storage.start()
  let delivered = 0
  for (;;) {
    const { jobs } = await storage.claim({ lanes: [{ lane: 'email', free: CONCURRENT }], leaseMs: 60_000 })
    if (jobs.length === 0) break
    await storage.startAttempts(jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'none' })))
    await storage.settle(
      jobs.map(({ jobId, token }) => ({
        kind: 'notification',
        jobId,
        token,
        facts: [{ type: 'sent', provider: 'none', attempt: 1, durationMs: 0 }],
        next: { kind: 'end' },
      })),
    )
    delivered += jobs.length
  }
  await storage.stop()
  return delivered
}

/** After ANALYZE on empty tables the server must not plan for empty tables. */
async function measureAfterAnalyze(database: Database): Promise<void> {
  await keepBacklog(database, AFTER_ANALYZE)
  const fill = (): Promise<unknown> =>
    database.pool.query(`
      INSERT INTO carillon.notifications SELECT * FROM kept_notifications;
      INSERT INTO carillon.jobs SELECT * FROM kept_jobs`)
  const contender = (name: string, prepare: () => Promise<unknown>): Contender => ({
    name,
    async prepare() {
      await empty(database)
      await prepare()
    },
    run: () => deliverByStorage(database),
  })
  await print(database, 'After ANALYZE', 'jobs', [
    contender('statistics of the full tables', async () => {
      await fill()
      await database.pool.query('ANALYZE')
    }),
    contender('statistics of the empty tables', async () => {
      await database.pool.query('ANALYZE')
      await fill()
    }),
  ])
}
