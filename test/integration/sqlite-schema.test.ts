import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { migrations } from '../../adapters/storage/sqlite/migrations/index.ts'
import type { FoundApiKey } from '../../src/ports/storage/api-keys.ts'
import {
  accept,
  claimOne,
  deliver,
  endpoint,
  goneAndBack,
  note,
  notes,
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
  expect(query(database, 'SELECT id FROM carillon_organizations')).toHaveLength(1)
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

/** A file as schema 11 left it: `n1` waits, `n2` was sent and opened, `n3` failed; three deliveries of an event of `n2`. */
function writeSchema11(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(
    'CREATE TABLE carillon_schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)',
  )
  for (const [index, sql] of migrations.slice(0, 11).entries()) {
    database.exec(sql)
    database.exec(`INSERT INTO carillon_schema_version VALUES (${index + 1}, 0)`)
  }
  database.exec(`
    INSERT INTO carillon_organizations (id, name, created_at) VALUES ('org_a', 'A', 0);
    INSERT INTO carillon_api_keys (seq, id, organization, hash, name, permission, prefix, last4, allowed_ips, created_at)
      SELECT value, 'key_' || value, 'org_a', unhex(printf('%064d', value)), 'k', 'Write', 'crl_', 'wxyz', '[]', 5
      FROM json_each('[3,7]');
    INSERT INTO carillon_notifications (seq, id, organization, channel, recipient, created_at, high, content)
      SELECT value, 'notif_n' || value, 'org_a', 'email', 'a@b.example', 5, 0, '{"subject":"s","body":"b"}'
      FROM json_each('[1,2,3]');
    UPDATE carillon_notifications SET status = 'opened', sequence = 4, published = 9, provider = 'p',
      provider_message_id = 'm2', fold = '{"own":10,"handovers":{"p|m2":[50,0]}}' WHERE seq = 2;
    UPDATE carillon_notifications SET status = 'failed', sequence = 2, published = 4, provider = 'p',
      error = '{"code":"mailbox_full","message":"full"}', fold = '{"own":35,"handovers":{}}' WHERE seq = 3;
    INSERT INTO carillon_events (notification, sequence, organization, at, status, fact) VALUES
      (2, 2, 'org_a', 6, 'queued', '{"type":"attempt_failed","attempt":1,"provider":"p","code":"mailbox_full"}'),
      (2, 3, 'org_a', 7, 'sent', '{"type":"sent","attempt":2,"provider":"p","providerMessageId":"m2"}'),
      (2, 4, 'org_a', 8, 'opened', '{"type":"opened","provider":"p","providerMessageId":"m2"}'),
      (3, 2, 'org_a', 7, 'failed', '{"type":"failed","attempt":1,"provider":"p","code":"mailbox_full"}');
    INSERT INTO carillon_handovers VALUES ('p', 'm2', 2);
    INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (2, 'org_a', 'email/smtp', 0, 0, 5);
    INSERT INTO carillon_deliveries (id, event_id, event_type, organization, endpoint, created_at, state, payload)
      SELECT key + 1, 'evt_n2_3', 'notification.sent', 'org_a', 'wh_1', 7, value, '{}'
      FROM json_each('["delivered","pending","held"]');
    INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (5, 'org_a', 'wh_1', 0, 1, 99);`)
  database.close()
}

test('a file of schema 11 is brought up to date: every status, and what goes on from it', async () => {
  const file = newFile()
  writeSchema11(file)
  const storage = sqlite({ file })
  await storage.start()
  const { notifications } = storage
  const filter = { organizationId: 'org_a' }
  const page = { limit: 10, offset: 0 }
  const all = await notifications.list(filter, page)
  expect(
    all.items.map(({ id, status, provider, providerMessageId, error }) => [
      id,
      status,
      provider,
      providerMessageId,
      error,
    ]),
  ).toEqual([
    ['notif_n3', 'failed', 'p', null, { code: 'mailbox_full', message: 'full' }],
    ['notif_n2', 'opened', 'p', 'm2', null],
    ['notif_n1', 'queued', null, null, null],
  ])
  const failed = await notifications.list({ ...filter, status: 'failed' }, page)
  expect(failed.items.map(({ id }) => id)).toEqual(['notif_n3'])
  const { items } = await storage.webhookEndpoints.deliveries({ endpointId: 'wh_1' }, page)
  expect(items.map(({ state }) => state)).toEqual(['held', 'pending', 'delivered'])

  // A lesser fact changes no status, and no event is published twice.
  for (const [type, published] of [
    ['delivered', ['notification.delivered']],
    ['opened', []],
  ] as const) {
    const fact = { type, providerMessageId: 'm2' }
    const receipt = { organizationId: null, provider: 'p', dedupeKey: type, fact }
    const [answer] = await storage.recordReceipts([receipt])
    expect(answer?.kind === 'recorded' && answer.events.map(({ event }) => event)).toEqual(published)
    expect((await notifications.get('notif_n2'))?.status).toBe('opened')
  }
  await deliver(storage)
  const later = await notifications.list(filter, page)
  expect(later.items.map(({ status }) => status)).toEqual(['failed', 'opened', 'sent'])
  expect((await notifications.timeline('notif_n2')).map(({ sequence }) => sequence)).toEqual([
    1, 2, 3, 4, 5, 6,
  ])
  await storage.stop()
})

test('a file of schema 11 keeps its API keys, and takes operator keys', async () => {
  const file = newFile()
  writeSchema11(file)
  const older = new DatabaseSync(file)
  const ofOlder = older.prepare('SELECT * FROM carillon_api_keys WHERE hash = ?')
  const hash = Buffer.from('7'.padStart(64, '0'), 'hex')
  expect(ofOlder.get(hash)).toMatchObject({ id: 'key_7', organization: 'org_a' })
  const storage = sqlite({ file })
  await storage.start()
  const { apiKeys } = storage
  const page = { limit: 10, offset: 0 }
  expect((await apiKeys.list('org_a', page)).items.map(({ id }) => id)).toEqual(['key_7', 'key_3'])
  const [found] = await apiKeys.findByHash([hash])
  expect(found?.key).toMatchObject({ id: 'key_7', organizationId: 'org_a', permission: 'Write', grants: [] })
  const { createdAt, ...known } = (found as FoundApiKey).key
  await apiKeys.create({ ...known, id: 'key_operator', organizationId: null }, Buffer.alloc(32, 1))
  expect((await apiKeys.list(null, page)).items.map(({ id }) => id)).toEqual(['key_operator'])
  await expect(apiKeys.create({ ...known, id: 'key_again' }, hash)).rejects.toThrow()
  expect(ofOlder.get(hash)).toMatchObject({ id: 'key_7', organization: 'org_a', created_at: 5 })
  older.close()
  await storage.stop()
})

test('a process that is older than the file delivers nothing more', async () => {
  const file = newFile()
  writeSchema11(file)
  const older = new DatabaseSync(file)
  const claim = older.prepare('SELECT token FROM carillon_tokens WHERE only = 1')
  expect(claim.get()).toEqual({ token: 0 })
  const storage = sqlite({ file })
  await storage.start()
  expect(() => claim.get()).toThrow('no such table')
  older.close()
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
  for (const options of [{}, { file: '' }, { file: ':memory:' }, { file: 7 }]) {
    expect(wrong(options)).toMatchObject({ code: 'invalid_configuration', details: { option: 'file' } })
  }
  expect(wrong({ file: 'x.db', synchronous: 'off' })).toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'synchronous' },
  })
})

test('a runtime without node:sqlite is told what it needs', () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
  expect(() => sqlite({ file: newFile() })).toThrow(/22\.13/)
  expect(() => sqlite({ file: newFile() })).toThrow(expect.objectContaining({ code: 'unsupported_runtime' }))
})
