import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPostgres } from '../examples/servers/postgres-programs.ts'
import { redisProgram } from '../examples/servers/redis.ts'
import { describeMachine, type Figure, withFolder } from './lib/measure.ts'

/**
 * Runs all benchmarks, or the named ones, in order. Prints one table of each result beside its floor or rival and
 * stores it in `results.json`. Names a failed benchmark and continues.
 *
 * `node benchmarks/all.ts [accept] [postgres] …`
 */

const ALL = [
  'accept',
  'batch',
  'http-accept',
  'http-batch',
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
  'postgres-growth',
  'import',
  'lists',
]

const folder = fileURLToPath(new URL('.', import.meta.url))
const named = process.argv.slice(2)
const wanted = (named.length === 0 ? ALL : named).filter((name) => existsSync(join(folder, `${name}.ts`)))
const failed: string[] = []
const versions = {
  postgres: versionOf(join(findPostgres() ?? '', 'postgres')),
  redis: versionOf(redisProgram ?? ''),
  sqlite: `SQLite ${process.versions.sqlite}`,
}

await withFolder(async (temporary) => {
  const file = join(temporary, 'figures')
  writeFileSync(file, '')
  for (const [index, name] of wanted.entries()) {
    console.log(`\n${index + 1} of ${wanted.length}: ${name}`)
    const began = performance.now()
    const child = spawn(process.execPath, [join(folder, `${name}.ts`)], {
      stdio: 'inherit',
      env: { ...process.env, CARILLON_BENCH_FIGURES: file },
    })
    const [code] = await once(child, 'exit')
    console.log(`${name} took ${Math.round((performance.now() - began) / 1_000)} s.`)
    if (code !== 0) failed.push(name)
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const figures = lines.map((line) => JSON.parse(line) as Figure)
  console.log(`\n${describeMachine()}\n${Object.values(versions).join(', ')}`)
  console.table(
    figures.map(({ title, name, unit, value, floor, ratio }) => ({
      benchmark: title,
      what: name,
      figure: `${value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')} ${unit}`,
      ratio: ratio.toFixed(2),
      beside: floor,
    })),
  )
  const results = { machine: describeMachine(), versions, at: new Date().toISOString(), figures }
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
})

if (failed.length > 0) {
  console.error(`These failed: ${failed.join(', ')}.`)
  process.exitCode = 1
}

function versionOf(program: string): string {
  return spawnSync(program, ['--version']).stdout?.toString().trim() || `no ${program}`
}
