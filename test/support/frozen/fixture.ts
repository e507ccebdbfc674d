import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { fromRoot } from '../../../scripts/entries.mjs'
import type { StorageLocation } from '../faults/store.ts'
import { onPostgres } from '../postgres.ts'
import { type FrozenFacts, plantFrozen } from './plant.ts'

const FOLDER = fromRoot('test/fixtures/databases')

type FrozenStorage = 'sqlite' | 'postgres'

/** The versions with frozen databases. */
export function frozenVersions(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER).sort() : []
}

const fileOf = (version: string, storage: FrozenStorage): string =>
  join(FOLDER, version, storage === 'sqlite' ? 'sqlite.db.gz' : 'postgres.sql.gz')

const factsFileOf = (version: string, storage: FrozenStorage): string =>
  join(FOLDER, version, `${storage}.json`)

/** The name that the tables are dumped under, and that a restored copy replaces. */
const frozenSchema = (version: string): string => `carillon_${version.replaceAll(/\W/g, '_')}`

/** Fills new databases with this version and stores them as those of `version`. */
export async function freeze(version: string, server: string, scratch: string): Promise<void> {
  rmSync(join(FOLDER, version), { recursive: true, force: true })
  mkdirSync(join(FOLDER, version), { recursive: true })
  const file = join(scratch, 'notifications.db')
  const schema = frozenSchema(version)
  await freezeOne(version, 'sqlite', { sqlite: file }, () => {
    const copy = join(scratch, 'copy.db')
    const database = new DatabaseSync(file)
    database.prepare('VACUUM INTO ?').run(copy)
    database.close()
    return readFileSync(copy)
  })
  await freezeOne(version, 'postgres', { postgres: { url: server, schema } }, () => dump(server, schema))
}

async function freezeOne(
  version: string,
  storage: FrozenStorage,
  location: StorageLocation,
  read: () => Buffer,
): Promise<void> {
  const facts = await plantFrozen(location)
  writeFileSync(factsFileOf(version, storage), `${JSON.stringify(facts, null, 2)}\n`)
  writeFileSync(fileOf(version, storage), gzipSync(read(), { level: 9 }))
}

/** As statements that any supported version of PostgreSQL runs: newer ones write commands of psql and settings of their own. */
function dump(url: string, schema: string): Buffer {
  const { status, stdout, stderr } = spawnSync(
    'pg_dump',
    ['--inserts', '--rows-per-insert=100', '--no-owner', '--no-privileges', '--schema', schema, url],
    { maxBuffer: 1e8, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`pg_dump: ${stderr}`)
  return Buffer.from(stdout.replaceAll(/^(?:\\|SET transaction_timeout|--).*\n/gm, ''))
}

/** Puts a copy of a frozen database at an empty place. */
export async function thaw(version: string, location: StorageLocation): Promise<FrozenFacts> {
  const storage = 'sqlite' in location ? 'sqlite' : 'postgres'
  const content = gunzipSync(readFileSync(fileOf(version, storage)))
  if ('sqlite' in location) {
    writeFileSync(location.sqlite, content)
  } else {
    const { url, schema } = location.postgres
    const statements = content.toString().replaceAll(frozenSchema(version), schema)
    await onPostgres(url, (client) => client.query(statements))
  }
  return JSON.parse(readFileSync(factsFileOf(version, storage), 'utf8'))
}
