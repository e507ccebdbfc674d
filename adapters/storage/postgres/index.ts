import type { Storage } from '../../../src/ports/storage/storage.ts'
import { type PostgresStorageOptions, resolveOptions } from './options.ts'
import { createStorage } from './storage.ts'

export type { PostgresPool, PostgresStorageOptions } from './options.ts'

/**
 * Keeps everything in PostgreSQL (13 or newer), for any number of processes on any number of machines: in a schema of
 * its own, through a pool of `pg`. See docs/scaling.md for pools, partitions and growth.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function postgresStorage(options: PostgresStorageOptions): Storage {
  return createStorage(resolveOptions(options), () => null)
}
