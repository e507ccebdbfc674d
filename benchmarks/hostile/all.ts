import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeMachine, type Figure, withFolder } from '../lib/measure.ts'

/**
 * Runs all attacks one after the other and prints one table. Names a failed program and continues.
 *
 * `node benchmarks/hostile/all.ts [folder of a built package]`
 */

/** The aim: another tenant waits at most so many times as long. */
const AIM = 3

const folder = fileURLToPath(new URL('.', import.meta.url))
const programs = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'all.ts')
const failed: string[] = []

await withFolder(async (temporary) => {
  const file = join(temporary, 'figures')
  writeFileSync(file, '')
  for (const [index, name] of programs.entries()) {
    console.log(`\n${index + 1} of ${programs.length}: ${name}`)
    const child = spawn(process.execPath, [join(folder, name), ...process.argv.slice(2, 3)], {
      stdio: 'inherit',
      env: { ...process.env, CARILLON_BENCH_FIGURES: file },
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) failed.push(name)
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  console.log(`\n${describeMachine()}`)
  console.table(
    lines
      .map((line) => JSON.parse(line) as Figure)
      .map(({ title, name, value, ratio }) => ({
        attack: title,
        measured: name,
        'idle, p50 ms': (value / ratio).toFixed(1),
        'during, p50 ms': value.toFixed(1),
        times: ratio.toFixed(1),
        [`at most ${AIM}`]: ratio <= AIM ? 'met' : 'missed',
      })),
  )
})

if (failed.length > 0) {
  console.error(`These failed: ${failed.join(', ')}.`)
  process.exitCode = 1
}
