// Runs test/matrix/ (the built package and the SQLite storage) on every supported runtime, and on Bun and Deno what
// needs servers: node scripts/test-runtimes.mjs [runtime …], such as node@24 bun@1.4
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from './entries.mjs'
import { RUNTIMES } from './tested-versions.mjs'

const { platform, arch } = process
const exe = platform === 'win32' ? '.exe' : ''

/** The other tests run on Node.js anyway. */
const withServers = [
  'test/integration/bullmq-queue.test.ts',
  'test/integration/graphile-worker-queue.test.ts',
  'test/contract/redis-rate-limiter.test.ts',
  'test/integration/web-push-provider.test.ts',
]

/** @typedef {{ binary: [name: string, file: string], test: string[], run?: string[] }} Runtime */

/** The package of this platform with the program in it, and how it runs files of node:test, and Vitest. */
const runtimes = /** @type {Record<string, Runtime>} */ ({
  node: {
    binary: [
      `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform === 'win32' ? 'win' : platform}-${arch}`,
      `bin/node${exe}`,
    ],
    // The flag is for versions before 22.18.
    test: ['--experimental-strip-types', '--test', '--test-reporter=spec'],
  },
  bun: {
    binary: [
      `@oven/bun-${platform === 'win32' ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
      `bin/bun${exe}`,
    ],
    test: ['test', '--timeout', '60000'],
    run: ['--bun'],
  },
  deno: {
    binary: [`@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`, `deno${exe}`],
    test: ['test', '--allow-all', '--no-check'],
    run: ['run', '--allow-all'],
  },
})

const tests = readdirSync(fromRoot('test/matrix'))
  .filter((file) => file.endsWith('.test.mjs'))
  .map((file) => fromRoot(`test/matrix/${file}`))

let failed = false
for (const asked of process.argv.length > 2 ? process.argv.slice(2) : RUNTIMES) {
  const [name = '', version = ''] = asked.split('@')
  const runtime = runtimes[name]
  if (runtime === undefined) throw new Error(`Unknown: ${asked}. Known are ${RUNTIMES.join(', ')}`)
  const program = install(runtime.binary, version)
  const found = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.split('\n', 1)
  console.log(`\n${name} ${found}`)
  run(program, [...runtime.test, ...tests])
  if (runtime.run !== undefined) {
    run(program, [...runtime.run, fromRoot('node_modules/vitest/vitest.mjs'), 'run', ...withServers])
  }
}
process.exitCode = failed ? 1 : 0

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  // Bun reports on its standard error. check.mjs counts what is on the standard output.
  const { status } = spawnSync(program, args, { cwd: fromRoot('.'), stdio: ['inherit', 1, 1] })
  failed ||= status !== 0
}

/**
 * Installs one version from npm's binary packages, cached between runs.
 *
 * @param {Runtime['binary']} binary
 * @param {string} version
 */
function install([name, file], version) {
  const folder = fromRoot(`node_modules/.cache/carillon-runtimes/${name}@${version}`)
  const program = join(folder, 'node_modules', name, file)
  if (existsSync(program)) return program

  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...args, '--ignore-scripts', `${name}@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: platform === 'win32',
  })
  if (status !== 0 || !existsSync(program)) {
    throw new Error(`The package ${name}@${version} could not be installed`)
  }
  return program
}
