import { onTestFinished } from 'vitest'
import type { StorageLocation } from './faults/store.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from './postgres.ts'
import { temporaryFile } from './sqlite-harness.ts'

/** Both storages that last, each at a place of its own for every call. */
export const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  [
    'SQLite',
    async () => {
      const { file, remove } = temporaryFile()
      onTestFinished(remove)
      return { sqlite: file }
    },
  ],
  ['PostgreSQL', async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } })],
]

/** Why a storage is missing on this machine. Null: it is there. */
export function whyNoStorage(name: string): string | null {
  return name === 'PostgreSQL' ? whyNoPostgres() : null
}
