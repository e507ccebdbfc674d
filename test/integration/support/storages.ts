import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import { inMemory } from '../../support/in-memory.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

/** The built-in storages, by name, for tests that hold on each. */
export const STORAGES: readonly (readonly [name: string, create: (clock: Clock) => Storage])[] = [
  ['SQLite in memory', (clock) => inMemory(clock)],
  [
    'SQLite',
    (clock) => {
      return sqlite({ file: join(temporaryDirectory(onTestFinished), 'notifications.db'), clock })
    },
  ],
]
