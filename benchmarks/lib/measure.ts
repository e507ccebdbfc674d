import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Something to be measured; gives the units of work it did. */
export interface Contender {
  readonly name: string
  run(): Promise<number>
}

/** The rate of one contender: units per second, of several runs. */
export interface Rate {
  readonly name: string
  readonly perSecond: readonly number[]
  readonly median: number
}

/**
 * Measures contenders in turn (A B C A B C …), so that a machine whose speed drifts treats them alike: one warm-up
 * each that does not count, then `rounds` that do.
 */
export async function compare(contenders: readonly Contender[], rounds = 5): Promise<Rate[]> {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, run } of contenders) {
      const began = performance.now()
      const units = await run()
      const seconds = (performance.now() - began) / 1000
      if (round >= 0) rates.get(name)?.push(units / seconds)
    }
  }
  return [...rates].map(([name, perSecond]) => ({ name, perSecond, median: median(perSecond) }))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** Prints rates with the ratio of each to the one named `floor`. */
export function report(title: string, unit: string, rates: readonly Rate[], floor: string): void {
  const base = rates.find(({ name }) => name === floor)?.median ?? Number.NaN
  const rows = rates.map(({ name, median: middle, perSecond }) => ({
    [title]: name,
    [`${unit}/s (median)`]: Math.round(middle).toLocaleString('en'),
    min: Math.round(Math.min(...perSecond)).toLocaleString('en'),
    max: Math.round(Math.max(...perSecond)).toLocaleString('en'),
    [`to "${floor}"`]: (middle / base).toFixed(2),
  }))
  console.table(rows)
}

/** One line about where the numbers come from. */
export function describeMachine(): string {
  const [cpu] = cpus()
  return `Node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${process.platform} ${process.arch}`
}

/** Runs `work` with a folder of its own, which is removed afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
