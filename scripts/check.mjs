// Runs what every change needs, or what a release needs beside it (`node scripts/check.mjs release`), step by step. Stops at
// the first failure.
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { fromRoot } from './entries.mjs'

/** Version 7 takes a third of the time. By its path: other versions are installed, whose commands have the same name. */
const tsc = fromRoot('node_modules/typescript7/bin/tsc')

/** @typedef {[name: string, command: string, ...args: string[]]} Step */

/** @type {Step[]} */
const everyChange = [
  ['dashboard', 'node', 'scripts/build-dashboard.mjs'],
  ['types of the dashboard', 'node', tsc, '-p', 'dashboard'],
  ['types', 'node', tsc, '-p', 'tsconfig.json', '--checkers', '2'],
  ['lint and format', 'biome', 'check', '--error-on-warnings'],
  ['import rules', 'node', 'scripts/check-imports.mjs'],
  ['unused code', 'npm', 'run', '--silent', 'check:unused'],
  ['build', 'tsup', '--silent'],
  ['tests', 'vitest', 'run', '--project', '!release'],
]

/** @type {Step[]} */
const release = [
  ['build', 'tsup', '--silent'],
  ['package', 'npm', 'run', '--silent', 'check:package'],
  ['tests', 'vitest', 'run', '--project', 'release'],
  ['the built package, and SQLite, on every runtime', 'node', 'scripts/test-runtimes.mjs'],
]

const steps = process.argv[2] === 'release' ? release : everyChange

/** Features that test/support/left-out-reporter.ts may skip in a run. */
const LEAVE_OUT = 'CARILLON_TEST_LEAVE_OUT'

const tests = { passed: 0, failed: 0 }
/** @type {string[]} */
const leftOut = []
const times = []
const started = performance.now()
let stopped = ''

for (const [name, command, ...args] of steps) {
  console.log(`\n── ${name}: ${[command, ...args].join(' ')}`)
  const begun = performance.now()
  const code = await run(command, args)
  times.push(`  ${seconds(begun)}  ${name}${code === 0 ? '' : `: failed with exit code ${code}`}`)
  if (code !== 0) {
    stopped = name
    break
  }
}

console.log(`\n${times.join('\n')}\n  ${seconds(started)}  together`)
if (stopped !== '') {
  console.log(`\nStopped at: ${stopped}`)
  tests.failed ||= 1
}
if (leftOut.length > 0) console.log(`\n${leftOut.join('\n')}`)
console.log(`\n${tests.passed} passed, ${tests.failed} failed`)
process.exitCode = stopped === '' ? 0 : 1

/**
 * Passes the output on and counts the tests in the summaries of Vitest, node:test, Bun and Deno.
 *
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<number>}
 */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }
    const child = spawn(command, args, {
      cwd: fromRoot('.'),
      // CI makes a missing snapshot a failure instead of writing it. If the environment sets CI, every server must also
      // be available.
      env: {
        ...process.env,
        ...color,
        CI: '1',
        // Machines of CI are slow and busy.
        CARILLON_TEST_PATIENCE: process.env.CARILLON_TEST_PATIENCE ?? '4',
        ...(process.env.CI === undefined ? { [LEAVE_OUT]: 'all' } : {}),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: process.platform === 'win32',
    })
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      process.stdout.write(text)
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) count(line)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** @param {string} line */
function count(line) {
  const plain = stripVTControlCharacters(line).trim()
  if (/^Tests {2}|^(?:ok|FAILED) \| \d/.test(plain)) {
    tests.passed += Number(/(\d+) passed/.exec(plain)?.[1] ?? 0)
    tests.failed += Number(/(\d+) failed/.exec(plain)?.[1] ?? 0)
  }
  if (plain.startsWith('Left out')) leftOut.push(plain)
  // Bun has the number first.
  const [, first, verdict, number = first] = /^(?:[ℹ#]|(\d+)) (pass|fail)(?: (\d+))?$/.exec(plain) ?? []
  if (verdict === 'pass') tests.passed += Number(number)
  if (verdict === 'fail') tests.failed += Number(number)
}

/** @param {number} since */
function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s`
}
