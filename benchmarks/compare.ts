import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeMachine, type Figure, median, withFolder } from './lib/measure.ts'

/**
 * Runs benchmarks of another commit and of this checkout in turn, and prints the medians beside each other: the figure of
 * each, its ratio to the floor of its own run, and the processor time of a unit.
 *
 * `node benchmarks/compare.ts 2d7fc7e [deliver] [accept] … [--rounds 7]`
 */

const USUAL = ['accept', 'batch', 'deliver', 'http-accept', 'webhooks', 'stacks']
const here = fileURLToPath(new URL('..', import.meta.url))

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' } },
})
const [commit, ...named] = positionals
const rounds = Number(values.rounds)
if (commit === undefined || !(rounds >= 1))
  throw new Error('Name a commit: node benchmarks/compare.ts <commit> [benchmark …] [--rounds 7]')
const names = named.length === 0 ? USUAL : named

/** The figures of one side by benchmark and contender, in the order of the rounds. */
type Figures = Map<string, Figure[]>

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Checks a commit out and builds it. Its benchmarks measure as those of today do. */
function build(commit: string, folder: string): void {
  mkdirSync(folder)
  const files = execFileSync('git', ['archive', commit], { cwd: here, maxBuffer: 1e9 })
  execFileSync('tar', ['-x'], { cwd: folder, input: files })
  run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], folder)
  run('npx', ['tsup', '--no-dts', '--silent'], folder)
  cpSync(join(here, 'benchmarks/lib/measure.ts'), join(folder, 'benchmarks/lib/measure.ts'))
}

function measure(root: string, name: string, file: string, into: Figures): void {
  writeFileSync(file, '')
  const env = { ...process.env, CARILLON_BENCH_FIGURES: file }
  const { status } = spawnSync(process.execPath, [`benchmarks/${name}.ts`], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) console.error(`${name} failed in ${root}.`)
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const figure = JSON.parse(line) as Figure
    const key = `${figure.title}: ${figure.name}`
    into.set(key, [...(into.get(key) ?? []), figure])
  }
}

function row(figures: readonly Figure[] | undefined): readonly [figure: string, ratio: string, cpu: string] {
  if (figures === undefined) return ['', '', '']
  const [of] = figures
  const micros = figures.flatMap(({ cpuMicros }) => cpuMicros ?? [])
  return [
    `${median(figures.map(({ value }) => value)).toLocaleString('en', { maximumFractionDigits: 1 })} ${of?.unit ?? ''}`,
    median(figures.map(({ ratio }) => ratio)).toFixed(2),
    micros.length === 0 ? '' : `${median(micros).toFixed(1)} µs`,
  ]
}

await withFolder(async (temporary) => {
  const there = join(temporary, 'then')
  build(commit, there)
  run('npx', ['tsup', '--no-dts', '--silent'], here)
  const file = join(temporary, 'figures')
  for (const name of names) {
    const then: Figures = new Map()
    const now: Figures = new Map()
    for (let round = 1; round <= rounds; round += 1) {
      console.log(`${name}, round ${round} of ${rounds}`)
      for (const [root, figures] of [
        [there, then],
        [here, now],
      ] as const) {
        if (existsSync(join(root, `benchmarks/${name}.ts`))) measure(root, name, file, figures)
      }
    }
    console.log(`\n${describeMachine()}, medians of ${rounds}`)
    print(then, now)
  }
})

function print(then: Figures, now: Figures): void {
  console.table(
    [...new Set([...then.keys(), ...now.keys()])].map((key) => {
      const [figure, ratio, cpu] = row(then.get(key))
      const [figureNow, ratioNow, cpuNow] = row(now.get(key))
      return { benchmark: key, [commit ?? '']: figure, now: figureNow, ratio, ratioNow, cpu, cpuNow }
    }),
  )
}
