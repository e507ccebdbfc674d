import { MEASURED } from './costs.ts'
import { type Day, type Size, simulate } from './service.ts'

/**
 * Simulates the busiest seconds of a day from the measured costs of one notification, without servers. Shows the first
 * bottleneck as the number of notifications grows, and what to add.
 *
 * `node benchmarks/simulation/index.ts [notifications a day] …`
 */

const SIZES = [100_000, 1_000_000, 10_000_000, 30_000_000, 100_000_000]
const SECONDS = 20
/** A part above this utilization has no reserve. */
const MAX_UTILIZATION = 0.7
const DAY_SECONDS = 86_400

const PARTS: Record<keyof Size, string> = {
  apiProcesses: 'API process',
  workerProcesses: 'worker process',
  postgresCores: 'PostgreSQL core',
}

const asked = process.argv.slice(2).map(Number)
const rows = (asked.length > 0 ? asked : SIZES).map(row)
console.table(rows)

function row(perDay: number): Record<string, string | number> {
  const perSecond = (perDay / DAY_SECONDS) * MEASURED.peak
  const smallest: Size = { apiProcesses: 1, workerProcesses: 1, postgresCores: 1 }
  const first = fullest(simulate(MEASURED, smallest, perSecond, SECONDS, seeded()))
  const { size, day } = grown(smallest, perSecond)
  return {
    'a day': perDay.toLocaleString('en'),
    'a second, at its peak': Math.round(perSecond).toLocaleString('en'),
    'gives out first': first === null ? 'nothing' : PARTS[first],
    'API processes': size.apiProcesses,
    workers: size.workerProcesses,
    'PostgreSQL cores': size.postgresCores,
    'Redis used': percent(day.used.redis),
    'accept p99, ms': Math.round(day.acceptP99),
    'to the provider p99, ms': Math.round(day.deliverP99),
    'GB a day': Number(((perDay * MEASURED.bytes) / 1e9).toPrecision(2)),
  }
}

/** Adds one of the most utilized part until all have a reserve. */
function grown(smallest: Size, perSecond: number): { readonly size: Size; readonly day: Day } {
  let size = smallest
  for (;;) {
    const day = simulate(MEASURED, size, perSecond, SECONDS, seeded())
    const part = fullest(day)
    if (part === null) return { size, day }
    size = { ...size, [part]: size[part] + 1 }
  }
}

/** The most utilized part without a reserve. Null: none. */
function fullest({ used }: Day): keyof Size | null {
  const parts = (Object.keys(PARTS) as (keyof Size)[]).filter((part) => used[part] > MAX_UTILIZATION)
  if (used.slots > MAX_UTILIZATION) parts.push('workerProcesses')
  return parts.sort((left, right) => used[right] - used[left])[0] ?? null
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

/** A deterministic random generator (mulberry32). */
function seeded(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
