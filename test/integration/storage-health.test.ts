import type { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { note, organization } from '../../src/testing/storage/fixtures.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { openSqlite } from '../support/sqlite-handle.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

/** One that delivers nothing: no commit but those of a test tells how the disk is. */
async function started(storage: Storage): Promise<Notifier> {
  const notifier = createNotifier({ storage, channels: {} })
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver: false })
  return notifier
}

/** The form of a report of one that reads, and takes nothing. */
const refusing = (reason: RegExp): object => ({
  status: 'unavailable',
  reason: expect.stringMatching(reason),
  storage: { answers: true },
})

const accept = (storage: Storage, body = 'x'): Promise<unknown> =>
  storage.accept([{ organizationId: 'org_default', notifications: [note({ content: { body } as never })] }])

test('a SQLite database whose disk is full is unavailable, from the first write that it refuses until there is room', async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  const { storage, handle } = await openSqlite({ file })
  vi.restoreAllMocks()
  const notifier = await started(storage)
  const rows = (): unknown => handle.prepare('SELECT count(*) FROM carillon_write_check').all()
  const before = rows()
  for (let times = 0; times < 2; times += 1) {
    fill(handle)
    await expect(accept(storage, 'x'.repeat(20_000))).rejects.toMatchObject({ code: 'service_unavailable' })
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await notifier.health()).toMatchObject(refusing(/database or disk is full/))
    }
    handle.exec('PRAGMA max_page_count = 1000000')
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
    expect(rows()).toEqual(before)
  }
})

/** Lets the file grow no further, once nothing in it is free. */
function fill(handle: DatabaseSync): void {
  handle.exec('VACUUM')
  const { page_count: pages } = handle.prepare('PRAGMA page_count').get() as { page_count: number }
  handle.exec(`PRAGMA max_page_count = ${pages}`)
}

test('without a refused write the health of a SQLite database writes nothing', async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  const { storage, handle } = await openSqlite({ file })
  vi.restoreAllMocks()
  const notifier = await started(storage)
  const changes = (): unknown => handle.prepare('SELECT total_changes() AS changes').get()
  const before = changes()
  expect((await notifier.health()).status).toBe('ok')
  expect(changes()).toEqual(before)
})

describeWith(whyNoPostgres(), 'a PostgreSQL', () => {
  async function open(): Promise<{ url: string; schema: string; storage: Storage; notifier: Notifier }> {
    const [url, schema] = [await sharedPostgres(), uniqueSchema()]
    const storage = postgres({ connectionString: url, schema, listen: false })
    return { url, schema, storage, notifier: await started(storage) }
  }

  test('whose disk is full is unavailable, from the first write that it refuses until there is room', async () => {
    const { url, schema, storage, notifier } = await open()
    await onPostgres(url, (client) =>
      client.query(`
        CREATE FUNCTION ${schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.kept EXECUTE FUNCTION ${schema}.full_disk();
        CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.r_organizations EXECUTE FUNCTION ${schema}.full_disk()`),
    )
    expect((await notifier.health()).status).toBe('ok')
    await expect(organization(storage)).rejects.toMatchObject({ code: 'service_unavailable' })
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await notifier.health()).toMatchObject(refusing(/No space left on device/))
    }
    await onPostgres(url, (client) => client.query(`DROP TRIGGER full_disk ON ${schema}.kept`))
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
    const { rows } = await onPostgres(url, (client) =>
      client.query(`SELECT name FROM ${schema}.kept WHERE name = 'check'`),
    )
    expect(rows).toEqual([])
  })

  test('that only reads is unavailable, before anything was to be stored, until it writes', async () => {
    const connectionString = await sharedPostgres()
    const [primary, standby] = ['off', 'on'].map((only) => {
      const pool = new pg.Pool({ connectionString, options: `-c default_transaction_read_only=${only}` })
      onTestFinished(() => pool.end())
      return pool
    }) as [pg.Pool, pg.Pool]
    let leadsTo = primary
    const pool = { connect: () => leadsTo.connect() }
    const notifier = await started(postgres({ pool, schema: uniqueSchema() }))
    expect((await notifier.health()).status).toBe('ok')
    leadsTo = standby
    expect(await notifier.health()).toMatchObject(refusing(/read-only/))
    leadsTo = primary
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
  })
})
