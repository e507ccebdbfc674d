import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'

/** The built-in storages, by name, for tests that hold on each. */
export const STORAGES: readonly (readonly [name: string, create: (clock: Clock) => Storage])[] = [
  ['memory', (clock) => memoryStorage({ clock })],
  [
    'SQLite',
    (clock) => {
      const directory = mkdtempSync(join(tmpdir(), 'carillon-http-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
      return sqlite({ file: join(directory, 'notifications.db'), clock })
    },
  ],
]
