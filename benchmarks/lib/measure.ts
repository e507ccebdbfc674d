import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

/** A measured operation. Returns the units of work that it did. */
export interface Contender {
  readonly name: string
  run(): Promise<number>
  /** Runs before each round, untimed. */
  prepare?(): Promise<void>
}

/** Units per second of one contender over several rounds. */
export interface Rate {
  readonly name: string
  readonly perSecond: readonly number[]
  readonly median: number
  /** Processor time of this process per unit, in microseconds. More reliable than the rate on a busy machine. */
  readonly cpuMicros: number
  /** Processor time of the server per unit. NaN: not measured. */
  readonly serverMicros: number
}

/**
 * Measures contenders in turn (A B C A B C …), so that changes of the machine's speed affect all alike: one warm-up
 * each, then `rounds` measured rounds.
 *
 * @param serverCpu processor time used by a server so far, in microseconds
 */
export async function compare(
  contenders: readonly Contender[],
  rounds = 5,
  serverCpu: () => number = () => Number.NaN,
): Promise<Rate[]> {
  const runs = contenders.map((contender) => ({
    contender,
    perSecond: [] as number[],
    cpuMicros: [] as number[],
    serverMicros: [] as number[],
  }))
  for (let round = -1; round < rounds; round += 1) {
    for (const { contender, perSecond, cpuMicros, serverMicros } of runs) {
      await contender.prepare?.()
      const cpuBefore = process.cpuUsage()
      const serverBefore = serverCpu()
      const began = performance.now()
      const units = await contender.run()
      const seconds = (performance.now() - began) / 1000
      const { user, system } = process.cpuUsage(cpuBefore)
      if (round < 0) continue
      perSecond.push(units / seconds)
      cpuMicros.push((user + system) / units)
      serverMicros.push((serverCpu() - serverBefore) / units)
    }
  }
  return runs.map(({ contender, perSecond, cpuMicros, serverMicros }) => ({
    name: contender.name,
    perSecond,
    median: median(perSecond),
    cpuMicros: median(cpuMicros),
    serverMicros: median(serverMicros),
  }))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** Prints rates, with the ratio of each to the one named `floor`. */
export function report(title: string, unit: string, rates: readonly Rate[], floor: string): void {
  const base = rates.find(({ name }) => name === floor)?.median ?? Number.NaN
  const rows = rates.map(({ name, median: middle, perSecond, cpuMicros, serverMicros }) => ({
    [title]: name,
    [`${unit}/s (median)`]: Math.round(middle).toLocaleString('en'),
    min: Math.round(Math.min(...perSecond)).toLocaleString('en'),
    max: Math.round(Math.max(...perSecond)).toLocaleString('en'),
    'processor µs each': cpuMicros.toFixed(1),
    ...(Number.isNaN(serverMicros) ? {} : { "server's µs each": serverMicros.toFixed(1) }),
    [`to "${floor}"`]: (middle / base).toFixed(2),
  }))
  console.table(rows)
  for (const { name, median: rate, cpuMicros } of rates) {
    if (name !== floor)
      record({ title, name, value: rate, unit: `${unit}/s`, floor, ratio: rate / base, cpuMicros })
  }
}

/** One figure with its floor or rival from the same run. */
export interface Figure {
  readonly title: string
  readonly name: string
  readonly value: number
  /** Unit of the value: `accepts/s`, `ms (p50)`. */
  readonly unit: string
  readonly floor: string
  readonly ratio: number
  /** Processor time of the process per unit, in microseconds. */
  readonly cpuMicros?: number
}

/** Adds a figure to the table of all benchmarks (`all.ts`). */
export function record(figure: Figure): void {
  const file = process.env.CARILLON_BENCH_FIGURES
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

/** One line about the machine and its load, which includes the benchmark's own. */
export function describeMachine(): string {
  const [cpu] = cpus()
  const load = loadavg()[0]?.toFixed(1) ?? 'unknown'
  return `Node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${process.platform} ${process.arch}, load ${load}`
}

/** Runs `work` with a temporary folder. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
