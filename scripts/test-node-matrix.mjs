// Runs test/matrix/ (the built package and the SQLite storage) on every supported Node.js version:
// node scripts/test-node-matrix.mjs [version …]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from './entries.mjs'

/** The oldest is the minimum version of package.json. */
const versions = ['22.13.0', '24', '26']

const tests = readdirSync(fromRoot('test/matrix'))
  .filter((file) => file.endsWith('.test.mjs'))
  .map((file) => fromRoot(`test/matrix/${file}`))

let failed = false
for (const version of process.argv.length > 2 ? process.argv.slice(2) : versions) {
  const node = install(version)
  const found = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  console.log(`\nNode ${found}`)
  // The flag is for versions before 22.18.
  const { status } = spawnSync(
    node,
    ['--experimental-strip-types', '--test', '--test-reporter=spec', ...tests],
    { cwd: fromRoot('.'), stdio: 'inherit' },
  )
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0

/**
 * Installs one version from npm's binary packages, cached between runs.
 *
 * @param {string} version
 */
function install(version) {
  const folder = fromRoot(`node_modules/.cache/carillon-node/${version}`)
  const name = binaryPackage()
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const binary = join(folder, 'node_modules', name, 'bin', file)
  if (existsSync(binary)) return binary

  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', [...args, '--ignore-scripts', `${name}@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0 || !existsSync(binary)) {
    throw new Error(`Node ${version} could not be installed from the package ${name}`)
  }
  return binary
}

/** Follows the naming of the package `node`. */
function binaryPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  return `${platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${process.arch}`
}
