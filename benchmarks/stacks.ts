import { Redis } from 'ioredis'
import pg from 'pg'
import { startPostgres } from '../examples/servers/postgres.ts'
import { startRedis } from '../examples/servers/redis.ts'
import { type LoadGenerator, startLoad } from './lib/load.ts'
import { type Contender, compare, describeMachine, median, record, report } from './lib/measure.ts'
import { type Member, startMember } from './stacks/member.ts'
import { PATH, type Servers } from './stacks/stack.ts'

/**
 * Carillon on PostgreSQL and Redis beside a typical hand-written stack (rivals/fastify-bullmq.ts), in separate
 * processes on the same servers: accepts over HTTP, batches, deliveries, and accepts with deliveries.
 *
 * `node benchmarks/stacks.ts [accept] [batch] [deliver] [both]`; default: all.
 */

const ROUNDS = 3
/** A few callers, and a busy service, in which more callers share a commit. */
const CONNECTIONS = [50, 200]
const REQUESTS = 20_000
const BATCH = 10_000
const BACKLOG = 50_000
const SEVERAL = [2, 4]

const BODY = JSON.stringify({
  channel: 'email',
  to: 'ada@example.com',
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days. Have a good day!',
  variables: { order: '2026-11-0815', carrier: 'Pigeon', days: 2 },
})

const named = process.argv.slice(2)
const wanted = (section: string): boolean => named.length === 0 || named.includes(section)

const database = await startPostgres(['fsync = on', 'shared_buffers = 256MB', 'max_wal_size = 4GB'])
const redis = await startRedis()
const servers: Servers = { postgres: database.url, redis: redis.url }
const pool = new pg.Pool({ connectionString: database.url, max: 2 })
pool.on('error', () => {})
const cache = new Redis(redis.url)

try {
  console.log(`${describeMachine()}; ${await versions()}`)
  if (wanted('accept')) await measureAccepts()
  if (wanted('batch')) await measureBatches()
  if (wanted('deliver')) await measureDeliveries()
  if (wanted('both')) await measureBoth()
} finally {
  await pool.end()
  cache.disconnect()
  await database.remove()
  await redis.remove()
}

async function versions(): Promise<string> {
  const { rows } = await pool.query<{ server_version: string }>('SHOW server_version')
  const redisVersion = /redis_version:(\S+)/.exec(await cache.info('server'))?.[1]
  return `PostgreSQL ${rows[0]?.server_version}, Redis ${redisVersion}`
}

/** Empties the stores and queues of both stacks, except keys and organizations. */
async function empty(): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE tablename = 'rival_notifications' OR (schemaname = 'carillon'
      AND tablename IN ('notifications', 'jobs', 'states', 'events', 'handovers'))`)
  if (rows.length > 0) await pool.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')}`)
  await cache.flushall()
  await pool.query('CHECKPOINT')
}

type Kind = 'carillon' | 'rival'

interface Serving {
  readonly members: readonly Member[]
  readonly ports: readonly number[]
  /** One per process. They are already running, so that no measurement contains their start. */
  readonly loads: readonly LoadGenerator[]
  readonly key: string
}

async function serve(kind: Kind, processes: number): Promise<Serving> {
  const members = Array.from({ length: processes }, () => startMember(kind, servers))
  const ports: number[] = []
  let key: string | null = null
  for (const member of members) {
    const serving: { port: number; key: string } = await member.ask({ do: 'serve', key })
    ports.push(serving.port)
    key = serving.key
  }
  return { members, ports, loads: ports.map(() => startLoad()), key: key ?? '' }
}

/** Posts to all processes of a stack at once. Returns the number of accepted requests. */
async function post({ ports, loads, key }: Serving, connections: number): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', Accept: '*/*' }
  const share = { connections: Math.ceil(connections / ports.length), requests: REQUESTS / ports.length }
  const accepted = await Promise.all(
    ports.map((port, index) => loads[index]?.run({ port, path: PATH, headers, body: BODY, ...share })),
  )
  return accepted.reduce<number>((sum, count = 0) => sum + count, 0)
}

async function stop({ members, loads }: Serving): Promise<void> {
  for (const load of loads) load.stop()
  await closeAll(members)
}

async function closeAll(members: readonly Member[]): Promise<void> {
  for (const member of members) await member.close()
}

async function measureAccepts(): Promise<void> {
  const serving = new Map<string, Serving>([
    ['own stack, 1 process', await serve('rival', 1)],
    ['Carillon, 1 process', await serve('carillon', 1)],
  ])
  for (const count of SEVERAL) serving.set(`Carillon, ${count} processes`, await serve('carillon', count))
  for (const connections of CONNECTIONS) {
    const contenders: Contender[] = [...serving].map(([name, stack]) => ({
      name,
      prepare: empty,
      run: () => post(stack, connections),
    }))
    report(
      `Accepts over HTTP, PostgreSQL and Redis, ${connections} connections`,
      'accepts',
      await compare(contenders, ROUNDS),
      'own stack, 1 process',
    )
  }
  for (const stack of serving.values()) await stop(stack)
}

async function measureBatches(): Promise<void> {
  const members = { 'own stack': startMember('rival', servers), Carillon: startMember('carillon', servers) }
  const contenders = Object.entries(members).map(([name, member]) => ({
    name,
    prepare: empty,
    async run() {
      await member.ask({ do: 'batch', count: BATCH })
      return BATCH
    },
  }))
  report('Batches of 10,000', 'notifications', await compare(contenders, ROUNDS), 'own stack')
  await closeAll(Object.values(members))
}

async function measureDeliveries(): Promise<void> {
  const members = { 'own stack': startMember('rival', servers), Carillon: startMember('carillon', servers) }
  const contenders = Object.entries(members).map(([name, member]) => ({
    name,
    async prepare() {
      await member.ask({ do: 'rest' })
      await empty()
      for (let left = BACKLOG; left > 0; left -= BATCH) await member.ask({ do: 'batch', count: BATCH })
    },
    async run() {
      const complete = member.ask({ do: 'expect', count: BACKLOG })
      await member.ask({ do: 'work' })
      await complete
      return BACKLOG
    },
  }))
  report(
    `Deliveries from a backlog of ${BACKLOG.toLocaleString('en')}, one process`,
    'deliveries',
    await compare(contenders, ROUNDS),
    'own stack',
  )
  await closeAll(Object.values(members))
}

/** One process accepts while another delivers. */
async function measureBoth(): Promise<void> {
  const rows: Record<string, { accepts: number[]; deliveries: number[] }> = {}
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, kind] of [
      ['own stack', 'rival'],
      ['Carillon', 'carillon'],
    ] as const) {
      await empty()
      const serving = await serve(kind, 1)
      const worker = startMember(kind, servers)
      await worker.ask({ do: 'work' })
      const began = performance.now()
      const accepted = await post(serving, CONNECTIONS[0] ?? 1)
      const seconds = (performance.now() - began) / 1000
      const delivered: number = await worker.ask({ do: 'delivered' })
      await stop(serving)
      await worker.close()
      if (round < 0) continue
      rows[name] ??= { accepts: [], deliveries: [] }
      rows[name]?.accepts.push(accepted / seconds)
      rows[name]?.deliveries.push(delivered / seconds)
    }
  }
  const [rival, ours] = [rows['own stack'], rows.Carillon]
  for (const what of ['accepts', 'deliveries'] as const) {
    record({
      title: 'Accepting and delivering at once, a process each',
      name: 'Carillon',
      value: median(ours?.[what] ?? []),
      unit: `${what}/s`,
      floor: 'own stack',
      ratio: median(ours?.[what] ?? []) / median(rival?.[what] ?? []),
    })
  }
  console.table(
    Object.entries(rows).map(([name, { accepts, deliveries }]) => ({
      'Accepting and delivering at once, a process each': name,
      'accepts/s': Math.round(median(accepts)).toLocaleString('en'),
      'deliveries/s': Math.round(median(deliveries)).toLocaleString('en'),
      'accepts to the own stack': (median(accepts) / median(rival?.accepts ?? [])).toFixed(2),
      'deliveries to the own stack': (median(deliveries) / median(rival?.deliveries ?? [])).toFixed(2),
    })),
  )
}
