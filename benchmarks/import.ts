import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeMachine, median } from './lib/measure.ts'

/** Time to import Carillon, and its size on disk with dependencies. */

const ROUNDS = 9
const root = join(import.meta.dirname, '..')

function milliseconds(code: string): number {
  const times = Array.from({ length: ROUNDS + 1 }, () => {
    const began = performance.now()
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root })
    return performance.now() - began
  })
  return median(times.slice(1))
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

const bare = milliseconds('')
const subpaths = ['carillon', 'carillon/sqlite', 'carillon/smtp', 'carillon/express']
const { bytes, packages } = installedSize()
console.log(describeMachine())
console.table(
  subpaths.map((name) => ({
    import: name,
    'ms beyond an empty process': (milliseconds(`await import('${name}')`) - bare).toFixed(1),
  })),
)
console.log(`Installed without peers: ${(bytes / 1024 / 1024).toFixed(1)} MiB in ${packages} packages`)
