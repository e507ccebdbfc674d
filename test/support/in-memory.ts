import { type SqliteTransaction, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'

/** The default storage. It outlives a stop: several notifiers may share it, and a test may read it afterwards. */
export function inMemory(clock?: Pick<Clock, 'now'>): Storage<SqliteTransaction> {
  return { ...sqlite({ file: ':memory:', clock }), async stop() {} }
}
