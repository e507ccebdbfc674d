import { copyFileSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type SqliteDriver, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import {
  accept,
  claimOne,
  note,
  notes,
  organization,
  start,
  timeOf,
} from '../../src/testing/storage/fixtures.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

let file = ''
let remove = (): void => {}
let now = Date.now()
const storages: Storage[] = []

beforeEach(() => {
  ;({ file, remove } = temporaryFile())
})

afterEach(async () => {
  for (const storage of storages.splice(0)) await storage.stop()
  remove()
})

async function open(name: string, synchronous?: 'full' | 'normal'): Promise<Storage> {
  const storage = sqlite({ file: name, synchronous, clock: { now: () => now } })
  storages.push(storage)
  await storage.start()
  return storage
}

async function count(storage: Storage): Promise<number> {
  const { items } = await storage.notifications.list(
    { organizationId: 'org_default' },
    { limit: 9, offset: 0 },
  )
  return items.length
}

test('a file is found by a link, and by a URI', async () => {
  const own = await open(file)
  await accept(own, [note()])
  await own.stop()
  symlinkSync(file, `${file}.link`)
  for (const name of [`${file}.link`, `file:${encodeURI(file)}`]) {
    const storage = await open(name)
    expect(await count(storage)).toBe(1)
    await storage.stop()
  }
})

test('a URI that cannot be opened is refused by the path that it means, and leaves no file', async () => {
  const folder = dirname(file)
  for (const uri of [`file://${encodeURI(folder)}/not%20there.db?mode=rw`, 'file:not%20there.db?mode=rw']) {
    const storage = sqlite({ file: uri })
    await expect(storage.start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/"[^"]*[^"%]not there\.db" cannot be opened \(ENOENT\)/),
    })
  }
  const left = [...readdirSync(folder), ...readdirSync('.').filter((name) => /^file:|not there/.test(name))]
  expect(left).toEqual([])
})

test('a URI that asks for what SQLite does not have is refused as the configuration', async () => {
  const uri = `file:${encodeURI(file)}`
  const faults = [
    [`${uri}?mode=readwrite`, 'no such access mode: readwrite'],
    [`${uri}?vfs=network`, 'no such vfs: network'],
    ['file://server/notifications.db', 'invalid uri authority: server'],
  ] as const
  for (const [name, reason] of faults) {
    await expect(sqlite({ file: name }).start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      details: { option: 'file' },
      message: `sqlite: SQLite cannot open "${name}": ${reason}. Correct the URI, or name a path.`,
    })
  }
})

test('a database that cannot be written is refused at the start', async () => {
  const own = await open(file)
  await accept(own, [note()])
  await own.stop()
  const storage = sqlite({ file: `file:${encodeURI(file)}?mode=ro` })
  await expect(storage.start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining('is read-only'),
  })
})

test('a damaged database is refused at the start', async () => {
  const own = await open(file)
  await own.stop()
  truncateSync(file, 5_000)
  await expect(sqlite({ file }).start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: `sqlite: "${file}" is damaged. Restore it from a backup, or use another file.`,
  })
})

test('a database that has a foreign table with a name of ours is refused at the start', async () => {
  const foreign = new DatabaseSync(file)
  foreign.exec('CREATE TABLE carillon_notifications (id TEXT)')
  foreign.close()
  await expect(sqlite({ file }).start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining('table carillon_notifications already exists'),
  })
})

test.each([' ', 'a\0b', 'file::memory:'])('the name %j is refused', (name) => {
  expect(() => sqlite({ file: name })).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option: 'file' } }),
  )
})

test.each([Date, class {}])('the class %s is no driver', async (driver) => {
  await expect(sqlite({ file, driver: driver as unknown as SqliteDriver }).start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'driver' },
    message: expect.stringContaining('has no method "exec"'),
  })
})

/** Windows lets nobody take a file away that is open. */
describe.skipIf(process.platform === 'win32')('under a running process', () => {
  const faults: readonly (readonly [fault: string, lost: 'database' | 'log', meet: () => void])[] = [
    ['a file that is removed', 'database', () => rmSync(file)],
    ['one that is moved away', 'database', () => renameSync(file, `${file}.old`)],
    [
      'one that another replaces',
      'database',
      () => {
        copyFileSync(file, `${file}.backup`)
        renameSync(`${file}.backup`, file)
      },
    ],
    ['a log that is removed', 'log', () => rmSync(`${file}-wal`)],
  ]

  for (const synchronous of ['full', 'normal'] as const) {
    test.each(faults)(
      `%s keeps everything from being answered as stored ("${synchronous}")`,
      async (_, lost, meet) => {
        const storage = await open(file, synchronous)
        await accept(storage, notes(2))
        const job = await claimOne(storage)
        meet()
        const refused = {
          code: 'service_unavailable',
          message: expect.stringContaining(
            `"${lost === 'log' ? `${file}-wal` : file}" was removed or replaced`,
          ),
        }
        const request = { organizationId: 'org_default', notifications: [note()] }
        await expect(storage.accept([request])).rejects.toMatchObject(refused)
        await expect(organization(storage)).rejects.toMatchObject(refused)
        await expect(start(storage, [job])).rejects.toMatchObject(refused)
        // So that who looks at the health of a process without work hears of it, too.
        now += 1_000
        await expect(timeOf(storage)).rejects.toMatchObject(refused)
        await storage.stop()
        await storage.start()
        await accept(storage, [note()])
      },
    )
  }

  test('a file that is put back serves again', async () => {
    const storage = await open(file)
    renameSync(file, `${file}.old`)
    const request = { organizationId: 'org_default', notifications: [note()] }
    // The first is written before it is seen that the file is gone; none that comes after.
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(storage.accept([request])).rejects.toMatchObject({ code: 'service_unavailable' })
    }
    renameSync(`${file}.old`, file)
    await accept(storage, [note()])
    expect(await count(storage)).toBeLessThanOrEqual(2)
  })
})

test('which organizations there are is not remembered of a file that was replaced between a stop and a start', async () => {
  const storage = await open(file)
  await organization(storage, 'org_a')
  const request = { organizationId: 'org_a', notifications: [note()] }
  expect(await storage.accept([request])).toMatchObject([{ kind: 'accepted' }])
  await storage.stop()
  rmSync(file)
  await storage.start()
  expect(await storage.accept([request])).toMatchObject([{ kind: 'failed', error: { code: 'not_found' } }])
})

test('a storage that two notifiers were given says so when the first of them has closed it', async () => {
  const storage = sqlite({ file })
  const [first, second] = [storage, storage].map((both) => createNotifier({ channels: {}, storage: both }))
  await Promise.all([first?.start({ deliver: false }), second?.start({ deliver: false })])
  await first?.stop()
  await expect(second?.templates.list()).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('a storage for each notifier'),
  })
  await second?.stop()
})
