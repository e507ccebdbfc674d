import { DatabaseSync } from 'node:sqlite'
import { type SqliteTransaction, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'

/** Missing from the types, which are those of the oldest supported Node.js. */
interface Copied {
  serialize(): Uint8Array
  deserialize(content: Uint8Array): void
}

const CopiedDatabase = DatabaseSync as new (file: string) => DatabaseSync & Copied

/** The empty tables of the first database: making them again would take half the time of a start. */
let tables: Uint8Array | undefined

/** The default storage. It outlives a stop: several notifiers may share it, and a test may read it afterwards. */
export function inMemory(clock?: Pick<Clock, 'now'>): Storage<SqliteTransaction> {
  let opened: (DatabaseSync & Copied) | undefined
  class Database extends CopiedDatabase {
    constructor(file: string) {
      super(file)
      if (tables !== undefined) this.deserialize(tables)
      opened = this
    }
  }
  const storage = sqlite({ file: ':memory:', clock, driver: Database })
  return {
    ...storage,
    async start(options) {
      const isNew = opened === undefined
      await storage.start(options)
      if (!isNew) return
      tables ??= opened?.serialize()
      // The organization of the first database was created by that one's clock.
      opened?.exec(`UPDATE carillon_r_organizations SET created_at = ${clock?.now() ?? Date.now()}`)
    },
    async stop() {},
  }
}
