import { symlinkSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sqliteStorage } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { accept, note } from '../../src/testing/storage/fixtures.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

let file = ''
let remove = (): void => {}
const storages: Storage[] = []

beforeEach(() => {
  ;({ file, remove } = temporaryFile())
})

afterEach(async () => {
  for (const storage of storages.splice(0)) await storage.stop()
  remove()
})

async function open(name: string, synchronous?: 'normal'): Promise<Storage> {
  const storage = sqliteStorage({ file: name, synchronous })
  storages.push(storage)
  await storage.start()
  return storage
}

test('a file is found by a link, and by a URI', async () => {
  const own = await open(file)
  await accept(own, [note()])
  await own.stop()
  symlinkSync(file, `${file}.link`)
  for (const name of [`${file}.link`, `file:${encodeURI(file)}`]) {
    const storage = await open(name)
    expect(
      (await storage.notifications.list({ organizationId: 'org_default' }, { limit: 9, offset: 0 })).items,
    ).toHaveLength(1)
    await storage.stop()
  }
})
