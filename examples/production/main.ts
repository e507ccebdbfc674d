// Two API processes and two workers on PostgreSQL and Redis, killed at random under load: npm run example:production
import { once } from 'node:events'
import type { NotificationRecord } from 'carillon'
import { explain } from '../server/print.ts'
import { freePort } from '../servers/free-port.ts'
import { type Hits, startChaos, type Victim } from './chaos.ts'
import { type Load, type Seen, startLoad } from './load.ts'
import { countLosses, type Losses } from './losses.ts'
import { type Addresses, productionNotifier } from './notifier.ts'
import { type Supervised, startProgram, supervise } from './processes.ts'
import type { Arrivals } from './provider.ts'
import { startProxy } from './proxy.ts'
import { openPostgres, openRedis, type Server } from './servers.ts'
import { readSettings } from './settings.ts'

const DRAIN_MS = 60_000
const AWAY_MS = 500

const sleep = (ms: number, stop?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, stop?.aborted ? 0 : ms)
    stop?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Ctrl-C ends the load early with a report on the run so far. A second one ends everything at once. */
const early = new AbortController()
const closers: (() => Promise<unknown>)[] = []
let signalled = -Infinity

async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse())
    await close().catch((error) => console.error(explain(error)))
}

function onSignal(): void {
  // A terminal also signals npm, which forwards the signal.
  if (performance.now() - signalled < 1_000) return
  if (early.signal.aborted) void closeAll().then(() => process.exit(130))
  signalled = performance.now()
  early.abort()
}

async function createKey(addresses: Addresses): Promise<string> {
  const notifier = productionNotifier(addresses)
  await notifier.start({ deliver: false })
  const { id: organizationId } = await notifier.organizations.create({ name: 'Load', plan: 'load' })
  const { secret } = await notifier
    .organization(organizationId)
    .apiKeys.create({ name: 'load', permission: 'Full Access' })
  await notifier.stop()
  return secret
}

function victimsOf(processes: readonly Supervised[], servers: readonly Server[]): Victim[] {
  const ofProcesses = processes.map((one) => ({
    name: one.name.replace(/ \d$/, ''),
    hit: one.kill,
  }))
  const ofServers = servers.flatMap(({ name, crash }) =>
    crash === undefined ? [] : [{ name, hit: () => crash(AWAY_MS) }],
  )
  return [...ofProcesses, ...ofServers]
}

function textOf(hits: Hits): string {
  return [...hits].map(([name, count]) => `${name} ${count}`).join(', ') || 'nobody yet'
}

async function main(): Promise<number> {
  const settings = readSettings(process.argv.slice(2))
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const began = performance.now()
  const seconds = (): string => `${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s`
  const say = (text: string): void => console.log(`${seconds()}  ${text}`)

  const run = `carillon_example_${process.pid}`
  const postgres = await openPostgres(run)
  closers.push(postgres.remove)
  const redis = await openRedis()
  closers.push(redis.remove)
  const servers = [postgres, redis]
  if (settings.servers && servers.some(({ crash }) => crash === undefined)) {
    throw new Error(
      '--servers kills PostgreSQL and Redis: remove POSTGRES_URL and REDIS_URL from the environment.',
    )
  }

  const provider = startProgram('provider')
  closers.push(async () => void provider.kill('SIGKILL'))
  const [providerPort] = (await once(provider, 'message')) as [number]
  const providerUrl = `http://127.0.0.1:${providerPort}`
  const ask = async <Answer>(path: string): Promise<Answer> =>
    (await (await fetch(providerUrl + path)).json()) as Answer

  const addresses: Addresses = {
    postgres: postgres.url,
    redis: redis.url,
    schema: run,
    prefix: `${run}:`,
    provider: providerUrl,
  }
  const key = await createKey(addresses)
  const print = settings.verbose ? say : () => {}
  const ports = [await freePort(), await freePort()]
  const processes = [
    ...ports.map((port, index) => supervise(`api ${index + 1}`, 'api', { ...addresses, port }, print)),
    ...[1, 2].map((number) => supervise(`worker ${number}`, 'worker', addresses, print)),
  ]
  closers.push(() => Promise.all(processes.map((one) => one.stop())))
  await Promise.all(processes.map((one) => one.ready()))
  const proxy = await startProxy(() => ports)
  closers.push(proxy.close)
  say(
    `two API processes, two workers, ${postgres.name} and ${redis.name}, behind http://127.0.0.1:${proxy.port}`,
  )

  const load = startLoad(proxy.port, key, settings.rate)
  const { seen } = load
  const chaos = startChaos(victimsOf(processes, settings.servers ? servers : []), settings.seed)
  const progress = setInterval(async () => {
    const delivered = await ask<number>('/count').catch(() => 0)
    say(
      `accepted ${seen.accepted.size}, delivered ${delivered}; killed: ${textOf(chaos.hits)}; ` +
        `resets ${seen.resets}, 503: ${seen.unavailable}`,
    )
  }, 1_000)
  closers.push(async () => clearInterval(progress))
  await sleep(settings.seconds * 1_000, early.signal)
  await chaos.end()
  await Promise.all(processes.map((one) => one.ready()))
  await recovered(ports, load)

  const rolling = early.signal.aborted ? undefined : await restartAll(processes, load)
  if (rolling !== undefined) say('restarted all four, one by one')
  await load.end()
  say('the load has ended; waiting for the remaining deliveries')

  const read = async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/v1/notifications${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as Answer
  }
  for (const end = performance.now() + DRAIN_MS; performance.now() < end; await sleep(200)) {
    const { items, hasMore } = await read<{ items: unknown[]; hasMore: boolean }>('?status=queued&limit=1')
    if (items.length === 0 && !hasMore) break
  }
  const losses = await countLosses(seen, await ask<Arrivals>('/'), (id) => read<NotificationRecord>(`/${id}`))
  clearInterval(progress)
  const good = conclude(losses, seen.unexpected, rolling)
  console.log(
    good ? '\nNothing was lost.' : `\nThe promise is broken; repeat this run with --seed ${settings.seed}.`,
  )
  return good ? 0 : 1
}

/**
 * Waits until every process is ready and all pending requests have their answers. After a crash a server accepts
 * connections before each process has one again, and requests get 503 until then. A deployment must not begin earlier.
 */
async function recovered(ports: readonly number[], load: Load): Promise<void> {
  const isWell = async (port: number): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    return answer?.ok === true && ((await answer.json()) as { status: string }).status === 'ok'
  }
  for (const end = performance.now() + DRAIN_MS; ; await sleep(100)) {
    const well = await Promise.all(ports.map(isWell))
    if (well.every(Boolean)) break
    if (performance.now() > end) throw new Error('The API processes do not recover: see --verbose.')
  }
  await load.answered()
}

/** Answers to callers during a deployment. */
type Deployment = Pick<Seen, 'resets' | 'unavailable'>

/** Restarts each process gracefully under the same load. */
async function restartAll(processes: readonly Supervised[], { seen }: Load): Promise<Deployment> {
  const { resets, unavailable } = seen
  for (const one of processes) await one.restart()
  return { resets: seen.resets - resets, unavailable: seen.unavailable - unavailable }
}

function conclude(
  { accepted, delivered, ambiguous, duplicates, lost, unknown }: Losses,
  unexpected: readonly string[],
  rolling: Deployment | undefined,
): boolean {
  const row = (label: string, count: number, meaning: string): void =>
    console.log(`${label.padEnd(12)}${String(count).padStart(8)}  ${meaning}`)
  console.log('')
  row('accepted', accepted, 'notifications that were answered with 201')
  row('delivered', delivered, 'of them, seen by the provider')
  row('ambiguous', ambiguous, 'handed over again after a kill, and marked ambiguous')
  row('duplicates', duplicates, 'handed over again without a mark: must be 0')
  row('lost', lost.length, 'accepted and never seen by the provider: must be 0')
  row('unknown', unknown, 'seen by the provider and never answered with 201: must be 0')
  row('refused', unexpected.length, 'answers that were neither 201 nor 503: must be 0')
  if (rolling !== undefined) {
    row('restarts', rolling.unavailable, '503 while all four were restarted one by one: must be 0')
    row('', rolling.resets, 'connections that broke meanwhile; their requests were repeated')
  }
  for (const id of lost.slice(0, 10)) console.log(`lost: ${id}`)
  for (const answer of unexpected.slice(0, 10)) console.log(`refused: ${answer}`)
  const broken = duplicates + lost.length + unknown + unexpected.length + (rolling?.unavailable ?? 0)
  return accepted > 0 && broken === 0
}

process.exitCode = await main().catch((error) => {
  console.error(explain(error))
  return 1
})
await closeAll()
// Exits despite open handles; a pool that the process closed is no leak.
process.exit()
