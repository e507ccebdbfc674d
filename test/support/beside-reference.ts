import type { Clock } from '../../src/core/ports/clock.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { describeEachWith } from './left-out.ts'
import { whyNoPostgres } from './postgres.ts'
import { postgresHarness } from './postgres-harness.ts'
import { sqliteHarness } from './sqlite-harness.ts'

type Create = (clock: Pick<Clock, 'now'>) => Promise<StorageHarness>

/**
 * Describes each storage that is held to the reference by random histories.
 *
 * @param numRuns how many histories; fewer against a server, where each takes longer
 */
export function describeBesideReference(
  numRuns: { readonly sqlite: number; readonly postgres: number },
  body: (create: Create, numRuns: number) => void,
): void {
  const storages: readonly (readonly [name: string, create: Create, numRuns: number])[] = [
    ['SQLite', sqliteHarness, numRuns.sqlite],
    ['PostgreSQL', (clock) => postgresHarness({ clock }), numRuns.postgres],
  ]
  const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)
  describeEachWith(storages, missing, '%s and the reference', (_name, create, runs) => body(create, runs))
}
