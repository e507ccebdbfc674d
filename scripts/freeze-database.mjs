// Freezes the databases of a version for test/integration/frozen-databases.test.ts:
// node scripts/freeze-database.mjs <version> [--again]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import './preflight.mjs'
import { startPostgres } from '../examples/servers/postgres.ts'
import { freeze, frozenVersions } from '../test/support/frozen/fixture.ts'
import { fromRoot } from './entries.mjs'

const [asked = '', ...flags] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
if (asked !== version)
  refuse(`package.json has version ${version}: node scripts/freeze-database.mjs ${version}`)
if (frozenVersions().includes(version)) {
  if (isReleased()) refuse(`${version} is released: its databases stay as they are.`)
  if (!flags.includes('--again')) refuse(`${version} is frozen. Until it is released, --again replaces it.`)
}

const scratch = mkdtempSync(join(tmpdir(), 'carillon-freeze-'))
const server = await startPostgres()
try {
  await freeze(version, server.url, scratch)
} finally {
  await server.remove()
  rmSync(scratch, { recursive: true, force: true })
}

function isReleased() {
  // Throws without git, because a released database must stay.
  const tags = execFileSync('git', ['tag', '--list', `v${version}`], { cwd: fromRoot('.'), encoding: 'utf8' })
  return tags.trim() !== ''
}

/**
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  console.error(reason)
  process.exit(1)
}
