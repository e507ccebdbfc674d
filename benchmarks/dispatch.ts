import { createNotifier, type Queue } from 'carillon'
import { bullmqQueue } from 'carillon/bullmq'
import { graphileWorkerQueue } from 'carillon/graphile-worker'
import { postgres } from 'carillon/postgres'
import { Redis } from 'ioredis'
import { startRedis } from '../examples/servers/redis.ts'
import { type Contender, compare, describeMachine, median, report } from './lib/measure.ts'
import { mails, sentCount } from './lib/notifiers.ts'
import { type Database, empty, notifierOn, withPostgres } from './lib/postgres.ts'

/**
 * Compares the three ways of dispatch on PostgreSQL, with one process and a no-op provider: the built-in queue,
 * graphile-worker in the same database, and BullMQ on Redis. Rates cover whole runs, from the start of the notifier to
 * its stop, without the servers' processor time.
 *
 * `node benchmarks/dispatch.ts [accept] [backlog] [together] [wait]`; default: all.
 */

const ROUNDS = 3
const CALLERS = 50
const SENDS = 5_000
const BACKLOG = 20_000
const BATCH = 10_000
const CONCURRENT = 100
const ALONE = 200

const named = process.argv.slice(2)
const wanted = (section: string): boolean => named.length === 0 || named.includes(section)

interface Way {
  readonly name: string
  /** Creates a separate connection per notifier. */
  queue(): Queue | undefined
  forget(): Promise<unknown>
}

const BUILT_IN = 'built-in'
const redis = await startRedis()
const client = new Redis(redis.url)

try {
  await withPostgres(async (database) => {
    const ways = waysOn(database)
    // Creates the engines' tables, so that they can be emptied.
    for (const { queue } of ways) {
      const engine = queue()
      await engine?.open()
      await engine?.close()
    }
    if (wanted('accept')) await measureAccepts(database, ways)
    if (wanted('backlog')) await measureBacklog(database, ways)
    if (wanted('together')) await measureTogether(database, ways)
    if (wanted('wait')) await measureWait(database, ways)
  })
} finally {
  client.disconnect()
  await redis.remove()
}

function waysOn({ url, pool }: Database): readonly Way[] {
  return [
    { name: BUILT_IN, queue: () => undefined, forget: async () => {} },
    {
      name: 'graphile-worker',
      queue: () => graphileWorkerQueue({ connectionString: url }),
      forget: () => pool.query('TRUNCATE graphile_worker._private_jobs'),
    },
    { name: 'BullMQ', queue: () => bullmqQueue({ url: redis.url }), forget: () => client.flushall() },
  ]
}

async function forget(database: Database, way: Way): Promise<void> {
  await empty(database)
  await way.forget()
}

async function print(title: string, unit: string, contenders: readonly Contender[]): Promise<void> {
  const rates = await compare(contenders, ROUNDS)
  console.log(describeMachine())
  report(title, unit, rates, BUILT_IN)
}

async function sendAll(notifier: ReturnType<typeof notifierOn>): Promise<void> {
  const [message] = mails(1)
  if (message === undefined) throw new Error('no message')
  let left = SENDS
  async function caller(): Promise<void> {
    while (left > 0) {
      left -= 1
      await notifier.send(message as NonNullable<typeof message>)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

async function measureAccepts(database: Database, ways: readonly Way[]): Promise<void> {
  await print(
    `Accepts, ${CALLERS} callers`,
    'accepts',
    ways.map((way) => ({
      name: way.name,
      prepare: () => forget(database, way),
      async run() {
        const notifier = notifierOn(database, 1, { queue: way.queue() })
        await notifier.start({ deliver: false })
        await sendAll(notifier)
        await notifier.stop()
        return SENDS
      },
    })),
  )
}

async function measureBacklog(database: Database, ways: readonly Way[]): Promise<void> {
  await print(
    `Deliveries from a backlog of ${BACKLOG.toLocaleString('en')}`,
    'deliveries',
    ways.map((way) => ({
      name: way.name,
      async prepare() {
        await forget(database, way)
        const notifier = notifierOn(database, 1, { queue: way.queue() })
        await notifier.start({ deliver: false })
        for (let left = BACKLOG; left > 0; left -= BATCH) await notifier.sendBatch(mails(BATCH))
        await notifier.stop()
      },
      async run() {
        const notifier = notifierOn(database, CONCURRENT, { queue: way.queue() })
        const sent = sentCount(notifier, BACKLOG)
        await notifier.start()
        await sent
        await notifier.stop()
        return BACKLOG
      },
    })),
  )
}

async function measureTogether(database: Database, ways: readonly Way[]): Promise<void> {
  await print(
    `Accepted and delivered by one process, ${CALLERS} callers`,
    'deliveries',
    ways.map((way) => ({
      name: way.name,
      prepare: () => forget(database, way),
      async run() {
        const notifier = notifierOn(database, CONCURRENT, { queue: way.queue() })
        const sent = sentCount(notifier, SENDS)
        await notifier.start()
        await sendAll(notifier)
        await sent
        await notifier.stop()
        return SENDS
      },
    })),
  )
}

/** Time from `send` to the provider, one message at a time. One process accepts and another notifier delivers. */
async function measureWait(database: Database, ways: readonly Way[]): Promise<void> {
  const rows: Record<string, string>[] = []
  for (const way of ways) {
    await forget(database, way)
    const arrived = new Map<string, (at: number) => void>()
    const worker = createNotifier({
      storage: postgres({ connectionString: database.url }),
      queue: way.queue(),
      channels: {
        email: {
          name: 'none',
          channel: 'email',
          async send({ body }) {
            arrived.get(body)?.(performance.now())
            return { kind: 'accepted' }
          },
        },
      },
    })
    const api = notifierOn(database, 1, { queue: way.queue() })
    await Promise.all([worker.start(), api.start({ deliver: false })])
    const waits: number[] = []
    for (let count = 0; count < ALONE; count += 1) {
      const body = `message ${count}`
      const began = performance.now()
      const at = new Promise<number>((resolve) => arrived.set(body, resolve))
      await api.send({ channel: 'email', to: 'ada@example.com', body })
      waits.push((await at) - began)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await Promise.all([worker.stop(), api.stop()])
    const sorted = waits.slice(ALONE / 10).sort((left, right) => left - right)
    rows.push({
      'From send to the provider': way.name,
      'p50 ms': median(sorted).toFixed(1),
      'p99 ms': (sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN).toFixed(1),
    })
  }
  console.log(describeMachine())
  console.table(rows)
}
