import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'

/** Where the processes of one test meet. */
export type StorageLocation =
  | { readonly sqlite: string }
  | { readonly postgres: { readonly url: string; readonly schema: string } }

/** @param clockMs how far the storage's clock is off; SQLite only, because PostgreSQL has a clock of its own */
export function openStorage(place: StorageLocation, clockMs = 0): Storage {
  if ('sqlite' in place) {
    const clock = { now: () => Date.now() + clockMs }
    return sqlite({ file: place.sqlite, synchronous: 'normal', clock })
  }
  const { url, schema } = place.postgres
  return postgres({ connectionString: url, schema, maxConnections: 3 })
}
