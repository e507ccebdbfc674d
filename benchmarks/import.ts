import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeMachine, median } from './lib/measure.ts'

/** Time and memory to import Carillon, beside zod, the largest dependency; and its size on disk with dependencies. */

const ROUNDS = 9
const root = join(import.meta.dirname, '..')

interface Cost {
  readonly milliseconds: number
  readonly cpuMilliseconds: number
  readonly megabytes: number
}

/** Medians of whole processes. */
function costOf(code: string): Cost {
  const tell = `
    const { user, system } = process.cpuUsage()
    console.log(JSON.stringify({ cpu: user + system, memory: process.memoryUsage.rss() }))`
  const runs = Array.from({ length: ROUNDS + 1 }, () => {
    const began = performance.now()
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code + tell], { cwd: root })
    const { cpu, memory } = JSON.parse(printed.toString()) as { cpu: number; memory: number }
    return { milliseconds: performance.now() - began, cpu, memory }
  }).slice(1)
  return {
    milliseconds: median(runs.map(({ milliseconds }) => milliseconds)),
    cpuMilliseconds: median(runs.map(({ cpu }) => cpu / 1e3)),
    megabytes: median(runs.map(({ memory }) => memory / 1e6)),
  }
}

function sizeOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function installedSize(): { readonly bytes: number; readonly packages: number } {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-size-'))
  try {
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
    }).trim()
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    execFileSync(
      'npm',
      ['install', '--silent', '--no-save', '--omit=dev', '--omit=optional', '--omit=peer', `./${packed}`],
      { cwd: folder },
    )
    const lock = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8')) as {
      packages: object
    }
    return { bytes: sizeOf(join(folder, 'node_modules')), packages: Object.keys(lock.packages).length }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const bare = costOf('')
const names = ['zod', 'carillon', 'carillon/sqlite', 'carillon/smtp', 'carillon/express']
const { bytes, packages } = installedSize()
console.log(describeMachine())
console.log('Beyond an empty process:')
console.table(
  names.map((name) => {
    const { milliseconds, cpuMilliseconds, megabytes } = costOf(`await import('${name}')`)
    return {
      import: name,
      ms: (milliseconds - bare.milliseconds).toFixed(0),
      'ms of processor time': (cpuMilliseconds - bare.cpuMilliseconds).toFixed(0),
      'MB resident': (megabytes - bare.megabytes).toFixed(1),
    }
  }),
)
console.log(`Installed without peers: ${(bytes / 1024 / 1024).toFixed(1)} MiB in ${packages} packages`)
