import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeMachine, type Figure, withFolder } from './lib/measure.ts'

/**
 * Runs all benchmarks one after another, or those that are named, prints one table of what each found beside its floor or
 * rival, and keeps it in `results.json`. One that fails is named, and the others go on.
 *
 * `node benchmarks/all.ts [accept] [postgres] …`
 */

const ALL = [
  'accept',
  'batch',
  'http-accept',
  'http-batch',
  'http-parts',
  'limiter',
  'redis-limiter',
  'deliver',
  'webhooks',
  'smtp',
  'both',
  'queued',
  'receipts',
  'postgres',
  'stacks',
  'dispatch',
  'latency',
  'import',
]

const folder = fileURLToPath(new URL('.', import.meta.url))
const named = process.argv.slice(2)
const wanted = (named.length === 0 ? ALL : named).filter((name) => existsSync(join(folder, `${name}.ts`)))
const failed: string[] = []

await withFolder(async (temporary) => {
  const file = join(temporary, 'figures')
  writeFileSync(file, '')
  for (const [index, name] of wanted.entries()) {
    console.log(`\n${index + 1} of ${wanted.length}: ${name}`)
    const child = spawn(process.execPath, [join(folder, `${name}.ts`)], {
      stdio: 'inherit',
      env: { ...process.env, CARILLON_BENCH_FIGURES: file },
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) failed.push(name)
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const figures = lines.map((line) => JSON.parse(line) as Figure)
  console.log(`\n${describeMachine()}`)
  console.table(
    figures.map(({ title, name, unit, rate, floor, ratio }) => ({
      benchmark: title,
      what: name,
      rate: `${Math.round(rate).toLocaleString('en')} ${unit}/s`,
      ratio: ratio.toFixed(2),
      beside: floor,
    })),
  )
  const results = { machine: describeMachine(), at: new Date().toISOString(), figures }
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
})

if (failed.length > 0) {
  console.error(`These failed: ${failed.join(', ')}.`)
  process.exitCode = 1
}
