import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StorageLocation } from './faults/store.ts'

/** All that a storage has on its disk, once what is removed is given back. No notifier may run on it. */
export function storedText(location: StorageLocation): string {
  if ('sqlite' in location) {
    const database = new DatabaseSync(location.sqlite)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    return readFileSync(location.sqlite, 'latin1')
  }
  const { url, schema } = location.postgres
  const { status, stdout, stderr } = spawnSync('pg_dump', ['--schema', `"${schema}"`, url], {
    maxBuffer: 1e9,
    encoding: 'latin1',
  })
  if (status !== 0) throw new Error(`pg_dump: ${stderr}`)
  return stdout
}
