// A process whose passes of retention begin at once. It kills itself where it is told to, or says "pass" when a pass has removed
// all notifications and contents.
// Usage: node expire.ts <options as JSON>
import pg from 'pg'
import { resolveOptions } from '../../../adapters/storage/postgres/options.ts'
import { createStorage } from '../../../adapters/storage/postgres/storage.ts'
import type { SqliteDriver, SqliteValue } from '../../../adapters/storage/sqlite/driver.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { loadSqlite } from '../../../adapters/storage/sqlite/runtime.ts'
import { systemClock } from '../../../src/core/loop/system-clock.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import type { StorageLocation } from '../../support/faults/store.ts'
import { tappedPool } from '../../support/tapped-pool.ts'

export interface ExpireProgram {
  readonly location: StorageLocation
  /** How far the storage's clock is ahead. */
  readonly clockMs: number
  /** Before which statement of which step it dies. Absent: it does not. */
  readonly at?: Death | undefined
}

/**
 * @param step of those of its kind
 * @param write the number of a statement that writes, or the commit
 */
export type Death = readonly [kind: 'contents' | 'notifications', step: number, write: number | 'COMMIT']

/** Before the first pass, and between two. */
const WAITS_MS: readonly number[] = [5 * 60_000, 60 * 60_000]

const { location, clockMs, at = ['contents', 0, 0] }: ExpireProgram = JSON.parse(process.argv[2] ?? '')
let [steps, writes] = [0, 0]
let isAt = false

function meet(sql: string): void {
  const isCommit = sql.replace('READ COMMITTED', '').includes('COMMIT')
  const isWrite = /\bDELETE\s+FROM\b|\bUPDATE\s+\S+\s+(AS\s+\w+\s+)?SET\b/.test(sql)
  if (isWrite) writes += 1
  const [, step, write] = at
  if (isAt && steps === step && (write === 'COMMIT' ? isCommit : isWrite && writes === write))
    process.kill(process.pid, 'SIGKILL')
}

const driver: SqliteDriver = loadSqlite()

class Dying extends driver {
  override prepare(sql: string) {
    const statement = super.prepare(sql)
    return {
      all: (...values: SqliteValue[]) => statement.all(...values),
      run(...values: SqliteValue[]) {
        meet(sql)
        return statement.run(...values)
      },
    }
  }
}

function open(): Storage {
  const now = (): number => Date.now() + clockMs
  if ('sqlite' in location)
    return sqlite({ file: location.sqlite, synchronous: 'normal', clock: { now }, driver: Dying })
  const { url, schema } = location.postgres
  const pool = tappedPool(new pg.Pool({ connectionString: url, max: 3 }), (client, query) => {
    meet(query.text)
    return client.query(query)
  })
  return createStorage(resolveOptions({ pool: pool as never, schema }), now)
}

const storage = open()
const system = systemClock()
const notifier = createNotifier({
  channels: { email: recordingProvider() },
  storage: {
    ...storage,
    async expire(request) {
      isAt = at[0] === (request.what.contentsOlderThanMs === undefined ? 'notifications' : 'contents')
      if (isAt) steps += 1
      writes = 0
      const answer = await storage.expire(request)
      if (request.what.organizationId === undefined) process.stdout.write('pass\n')
      return answer
    },
  },
  clock: { ...system, timer: (ms, callback) => system.timer(WAITS_MS.includes(ms) ? 10 : ms, callback) },
  retention: { contentDays: 1, logDays: 7 },
})
notifier.on('error', (error) => process.stdout.write(`error ${error.message}\n`))
await notifier.start()
