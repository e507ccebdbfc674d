import { resolveOptions } from '../../../adapters/storage/postgres/options.ts'
import { createStorage } from '../../../adapters/storage/postgres/storage.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'

/** Where the processes of one test meet. */
export type StorageLocation =
  | { readonly sqlite: string }
  | { readonly postgres: { readonly url: string; readonly schema: string } }

/**
 * @param clockMs how far the storage's clock is off, asked again for each time. Default: not, and on PostgreSQL it is the
 *   server's own
 */
export function openStorage(location: StorageLocation, clockMs?: number | (() => number)): Storage {
  const off = typeof clockMs === 'function' ? clockMs : () => clockMs ?? 0
  const now = (): number => Date.now() + off()
  if ('sqlite' in location) {
    return sqlite({ file: location.sqlite, synchronous: 'normal', clock: { now } })
  }
  const { url, schema } = location.postgres
  const options = resolveOptions({ connectionString: url, schema, maxConnections: 3 })
  return createStorage(options, clockMs === undefined ? () => null : now)
}
