import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { migrations } from '../../adapters/storage/sqlite/migrations/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claimOne,
  deliver,
  endpoint,
  goneAndBack,
  note,
  notes,
  organization,
  start,
} from '../../src/testing/storage/fixtures.ts'
import { type Program, runProgram } from '../support/program.ts'
import { openSqlite } from '../support/sqlite-handle.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import type { OpenOptions } from './programs/open-sqlite.ts'

const files: ReturnType<typeof temporaryFile>[] = []

function newFile(): string {
  const file = temporaryFile()
  files.push(file)
  return file.file
}

afterEach(() => {
  vi.restoreAllMocks()
  for (const { remove } of files.splice(0)) remove()
})

/** Four processes that open the file in the same moment. */
function openTogether(database: string): Program[] {
  const options: OpenOptions = { database, at: Date.now() + 1_000 }
  return [1, 2, 3, 4].map(() => runProgram('open-sqlite', options))
}

function query(file: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

test('four processes that open a new file at once migrate it once, and keep one secret', async () => {
  const database = newFile()
  const programs = openTogether(database)
  const ends = await Promise.all(programs.map(({ ended }) => ended))
  expect([ends, programs.flatMap(({ errors }) => errors)]).toEqual([[0, 0, 0, 0], []])
  expect(new Set(programs.flatMap(({ lines }) => lines)).size).toBe(1)
  expect(query(database, 'SELECT version FROM carillon_schema_version')).toHaveLength(migrations.length)
  expect(query(database, 'SELECT id FROM carillon_r_organizations')).toHaveLength(1)
})

test('four processes that claim at once share the jobs, each leased once', async () => {
  const database = newFile()
  const storage = sqlite({ file: database })
  await storage.start()
  await accept(storage, notes(300))
  await storage.stop()
  const programs = openTogether(database)
  expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
  const claims = programs.flatMap(({ lines }) => lines.filter((line) => line.startsWith('claimed')))
  expect(claims).toHaveLength(300)
  expect(new Set(claims.map((line) => line.split(' ')[1])).size).toBe(300)
  expect(query(database, 'SELECT count(*) AS leased FROM carillon_jobs WHERE state = 2')).toEqual([
    { leased: 300 },
  ])
})

test('what was stored is there after a restart, leases and tokens included', async () => {
  const file = newFile()
  const first = sqlite({ file })
  await first.start()
  const [sentId = '', leasedId = ''] = await accept(first, [note(), note(), note()])
  await deliver(first)
  const leased = await claimOne(first)
  await start(first, [leased])
  const before = await Promise.all([sentId, leasedId].map((id) => first.notifications.timeline(id)))
  await first.stop()

  const second = sqlite({ file })
  await second.start()
  const after = await Promise.all([sentId, leasedId].map((id) => second.notifications.timeline(id)))
  expect(after).toEqual(before)
  expect((await second.notifications.get(sentId))?.status).toBe('sent')
  expect(await second.renew([leased], 60_000)).toEqual([true])
  const other = await claimOne(second)
  expect(other.token).toBeGreaterThan(leased.token)
  await second.stop()
})

test('events about an endpoint are numbered on after a restart', async () => {
  const file = newFile()
  const first = sqlite({ file })
  await first.start()
  const hook = await endpoint(first)
  expect([await goneAndBack(first, hook), await goneAndBack(first, hook)]).toEqual([1, 2])
  await first.stop()
  const second = sqlite({ file })
  await second.start()
  expect(await goneAndBack(second, hook)).toBe(3)
  await second.stop()
})

test('a storage can be stopped and started again', async () => {
  const storage = sqlite({ file: newFile() })
  await storage.start()
  const [id = ''] = await accept(storage, [note()])
  await storage.stop()
  await storage.stop()
  await expect(storage.notifications.get(id)).rejects.toMatchObject({ code: 'service_unavailable' })
  await expect(storage.accept([])).rejects.toMatchObject({ code: 'service_unavailable' })
  await storage.start()
  expect((await storage.notifications.get(id))?.id).toBe(id)
  await storage.stop()
})

test('a schema newer than this code is refused, and left alone', async () => {
  const file = newFile()
  const storage = sqlite({ file })
  await storage.start()
  await storage.stop()
  query(file, `INSERT INTO carillon_schema_version VALUES (${migrations.length + 1}, 0)`)
  await expect(storage.start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    details: { found: migrations.length + 1, known: migrations.length },
  })
  await expect(storage.claim({ lanes: [], leaseMs: 1 })).rejects.toMatchObject({
    code: 'service_unavailable',
  })
})

/** The storage as a next version of this package has it. */
async function nextVersion(file: string): Promise<Storage> {
  vi.resetModules()
  vi.doMock('../../adapters/storage/sqlite/migrations/index.ts', () => ({
    migrations: [...migrations, 'ALTER TABLE carillon_notifications ADD COLUMN mood TEXT'],
  }))
  const next = await import('../../adapters/storage/sqlite/index.ts')
  vi.doUnmock('../../adapters/storage/sqlite/migrations/index.ts')
  return next.sqlite({ file })
}

test('a next version migrates a file that this one serves, and both go on', async () => {
  const file = newFile()
  const storage = sqlite({ file })
  await storage.start()
  const [before = ''] = await accept(storage, [note()])
  const next = await nextVersion(file)
  await next.start()
  expect(query(file, 'SELECT version FROM carillon_schema_version')).toHaveLength(migrations.length + 1)
  expect(query(file, 'SELECT id, mood FROM carillon_notifications')).toEqual([{ id: before, mood: null }])
  const [after = ''] = await accept(storage, [note()])
  expect(await organization(storage, 'org_a')).toBe('org_a')
  for (const id of [before, after]) expect((await next.notifications.get(id))?.id).toBe(id)
  await deliver(next)
  await next.stop()
  await next.start()
  await next.stop()
  await storage.stop()
})

test("Carillon's tables live beside an application's own of the same names", async () => {
  const file = newFile()
  const database = new DatabaseSync(file)
  database.exec("CREATE TABLE jobs (x); CREATE TABLE notifications (x); INSERT INTO jobs VALUES ('mine')")
  database.exec('CREATE TABLE gone (x); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone')
  database.close()
  const storage = sqlite({ file })
  await storage.start()
  await accept(storage, [note()])
  await storage.stop()
  expect(query(file, 'SELECT x FROM jobs')).toEqual([{ x: 'mine' }])
})

test('the log is written ahead, and commits do not wait for the disk', async () => {
  const { storage, handle } = await openSqlite({ file: newFile() })
  const pragma = (name: string): unknown => Object.values(handle.prepare(`PRAGMA ${name}`).get() ?? {})[0]
  expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')]).toEqual(['wal', 1, 1])
  await storage.stop()
})

test('wrong options are told apart at creation', () => {
  const wrong = (options: object): unknown => {
    try {
      return sqlite(options as never)
    } catch (error) {
      return error
    }
  }
  for (const options of [{}, { file: '' }, { file: 7 }]) {
    expect(wrong(options)).toMatchObject({ code: 'invalid_configuration', details: { option: 'file' } })
  }
  expect(wrong({ file: 'x.db', synchronous: 'off' })).toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'synchronous' },
  })
})

test('in memory there is no file, and a stop forgets everything', async () => {
  const storage = sqlite({ file: ':memory:' })
  expect([storage.name, storage.durable]).toEqual(['sqlite', false])
  await storage.start()
  await accept(storage, [note()])
  await storage.check?.()
  expect(existsSync(':memory:')).toBe(false)
  await storage.stop()
  await storage.start()
  expect((await storage.countJobs('all', 10)).counts).toEqual([])
  await storage.stop()
})
