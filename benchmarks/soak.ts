import { setTimeout as pause } from 'node:timers/promises'
import { createNotifier } from 'carillon'
import { postgres } from 'carillon/postgres'
import { describeMachine } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'
import { type Database, fill, withPostgres } from './lib/postgres.ts'

/**
 * Accepts and delivers for an hour at half the rate that it reaches at first, beside ten million notifications of three
 * weeks, while retention removes those that are older than a week. Prints a line every five minutes: what grows shows.
 *
 * `CARILLON_BENCH_MINUTES=60 CARILLON_BENCH_ROWS=10000000 node benchmarks/soak.ts`; `CARILLON_BENCH_RATE` sets another rate.
 */

const MINUTES = Number(process.env.CARILLON_BENCH_MINUTES ?? '60')
const ROWS = Number(process.env.CARILLON_BENCH_ROWS ?? '10000000')
const EVERY_MINUTES = 5
/** Notifications that the rate is measured with. */
const FIRST = 100_000
const CALLERS = 200
const TICK_MS = 10
const [mail] = mails(1)
const started = performance.now()

/** When each notification that is on its way was due to be sent, by its address. */
const due = new Map<string, number>()
let waits: number[] = []
let allArrived = (): void => {}
let number = 0

await withPostgres(async (database) => {
  console.log(`Storing ${ROWS.toLocaleString('en')} notifications.`)
  await fill(database, 'carillon', ROWS)
  const notifier = createNotifier({
    storage: postgres({ connectionString: database.url }),
    retention: { logDays: 7 },
    channels: {
      email: {
        name: 'none',
        maxConcurrent: 1_000,
        async send({ to }) {
          waits.push(performance.now() - (due.get(to) ?? Number.NaN))
          due.delete(to)
          if (due.size === 0) allArrived()
          return { kind: 'accepted' }
        },
      },
    },
  })
  await notifier.start()

  function send(dueAt: number): Promise<unknown> {
    number += 1
    const to = `customer-${number}@example.com`
    due.set(to, dueAt)
    return notifier.send({ channel: 'email', to, subject: mail?.subject ?? '', body: mail?.body ?? '' })
  }

  const began = performance.now()
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (number < FIRST) await send(performance.now())
    }),
  )
  await new Promise<void>((resolve) => {
    allArrived = resolve
    if (due.size === 0) resolve()
  })
  const half = Math.round(FIRST / ((performance.now() - began) / 1_000) / 2)
  const perSecond = Number(process.env.CARILLON_BENCH_RATE ?? half)
  console.log(
    `Half the rate is ${half.toLocaleString('en')} a second. Sending ${perSecond.toLocaleString('en')}.`,
  )

  const lines: Record<string, string | number>[] = []
  const end = performance.now() + MINUTES * 60_000
  for (let at = performance.now(); at < end; ) {
    const until = Math.min(end, at + EVERY_MINUTES * 60_000)
    const [before, from, cpu, server] = [number, performance.now(), process.cpuUsage(), database.cpu()]
    waits = []
    while (at < until) {
      const now = performance.now()
      for (; at <= now && at < until; at += 1_000 / perSecond) void send(at)
      await pause(TICK_MS)
    }
    const sent = number - before
    const used = process.cpuUsage(cpu)
    const sorted = Float64Array.from(waits).sort()
    const share = (of: number): string => (sorted[Math.floor(sorted.length * of)] ?? Number.NaN).toFixed(1)
    lines.push({
      minute: Math.round((performance.now() - started) / 60_000),
      'sent a second': Math.round((sorted.length * 1_000) / (performance.now() - from)),
      'p50 ms': share(0.5),
      'p99 ms': share(0.99),
      'p99.9 ms': share(0.999),
      'µs each': `${((used.user + used.system) / sent).toFixed(0)} + ${((database.cpu() - server) / sent).toFixed(0)}`,
      'memory MB': Math.round(process.memoryUsage.rss() / 1e6),
      ...(await sizes(database)),
    })
    console.log(JSON.stringify(lines.at(-1)))
  }
  await notifier.stop()
  console.log(describeMachine())
  console.table(lines)
})

async function sizes({ pool }: Database): Promise<Record<string, string | number>> {
  const { rows } = await pool.query<Record<'live' | 'dead' | 'jobs' | 'size' | 'wal', string>>(`
    SELECT sum(n_live_tup) FILTER (WHERE relname LIKE 'notifications%') AS live,
      sum(n_dead_tup) FILTER (WHERE relname LIKE 'notifications%') AS dead,
      pg_total_relation_size('carillon.jobs') AS jobs, pg_database_size(current_database()) AS size,
      (SELECT sum(size) FROM pg_ls_waldir()) AS wal
    FROM pg_stat_user_tables WHERE schemaname = 'carillon'`)
  const [row] = rows
  const number = (value: string | undefined): number => Number(value ?? Number.NaN)
  return {
    'stored, millions': (number(row?.live) / 1e6).toFixed(2),
    'dead rows': `${((number(row?.dead) / number(row?.live)) * 100).toFixed(1)} %`,
    'jobs MB': Math.round(number(row?.jobs) / 1e6),
    'database GB': (number(row?.size) / 1e9).toFixed(2),
    'WAL GB': (number(row?.wal) / 1e9).toFixed(2),
  }
}
