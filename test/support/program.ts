import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildSync } from 'esbuild'
import { onTestFinished } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import { eventually } from './eventually.ts'

/** A program of test/integration/programs/ in a process of its own. */
export interface Program {
  readonly process: ChildProcess
  /** What it has written, line by line. */
  readonly lines: readonly string[]
  readonly errors: readonly string[]
  /** Resolves when a line with this beginning has come. */
  said(beginning: string): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended it; all its lines have been read then. */
  readonly ended: Promise<number | string>
}

/** What one of the processes has compiled the next ones use. */
const COMPILED = join(tmpdir(), 'carillon-test-programs')

let bundled: string | undefined

/** A program in a file with its sources: reading these one by one takes most of the life of a short process. */
export function programFile(name: string): string {
  bundled ??= bundle()
  return join(bundled, `${name}.mjs`)
}

function bundle(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-programs-'))
  symlinkSync(fromRoot('node_modules'), join(folder, 'node_modules'))
  buildSync({
    entryPoints: globSync(fromRoot('test/integration/programs/*.ts')),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  })
  return folder
}

/**
 * Starts a program with its options; it is killed when the test ends.
 *
 * @param flags of Node itself
 */
export function runProgram(name: string, options: object, flags: readonly string[] = []): Program {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...flags, programFile(name), JSON.stringify(options)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NODE_COMPILE_CACHE: COMPILED, ...process.env },
    },
  )
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return {
    process: child,
    lines,
    errors,
    ended,
    kill: (signal) => void child.kill(signal),
    said: (beginning) =>
      eventually(() => {
        const line = lines.find((text) => text.startsWith(beginning))
        if (line === undefined && child.exitCode !== null) {
          throw new Error(`Ended with ${child.exitCode}: ${errors.join('\n')}`)
        }
        return line
      }),
  }
}
