import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'

/** Where the processes of one test meet. */
export type StorageLocation =
  | { readonly sqlite: string }
  | { readonly postgres: { readonly url: string; readonly schema: string } }

/** @param clockMs how far the storage's clock is off; SQLite only, because PostgreSQL has a clock of its own */
export function openStorage(location: StorageLocation, clockMs = 0): Storage {
  if ('sqlite' in location) {
    const clock = { now: () => Date.now() + clockMs }
    return sqlite({ file: location.sqlite, synchronous: 'normal', clock })
  }
  const { url, schema } = location.postgres
  return postgres({ connectionString: url, schema, maxConnections: 3 })
}
