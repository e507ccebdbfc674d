import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { handleNodeRequest } from '../../../adapters/http/node-request.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { serve } from '../../../src/rest-api.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, call } from '../../support/http-client.ts'
import { openSqlite } from '../../support/sqlite-handle.ts'
import { temporaryFile } from '../../support/sqlite-harness.ts'

interface Fault {
  begin(handle: DatabaseSync, file: string): void
  end(handle: DatabaseSync): void
}

let locker: DatabaseSync | undefined

const FAULTS: Readonly<Record<string, Fault>> = {
  'a full disk': {
    begin(handle) {
      const pages = handle.prepare('PRAGMA page_count').get()?.page_count
      handle.exec(`PRAGMA max_page_count = ${Number(pages)}`)
    },
    end: (handle) => handle.exec('PRAGMA max_page_count = 1000000'),
  },
  'a file that another process has locked': {
    begin(handle, file) {
      handle.exec('PRAGMA busy_timeout = 20')
      locker = new DatabaseSync(file)
      locker.exec('BEGIN IMMEDIATE')
    },
    end() {
      locker?.exec('ROLLBACK')
      locker?.close()
    },
  },
  'a file system that has become read-only': {
    begin: (handle) => handle.exec('PRAGMA query_only = ON'),
    end: (handle) => handle.exec('PRAGMA query_only = OFF'),
  },
}

async function world() {
  const { file, remove } = temporaryFile()
  const { storage: stored, handle } = await openSqlite({ file })
  vi.restoreAllMocks()
  const email = recordingProvider()
  const refused = { settlements: 0 }
  const storage: Storage = {
    ...stored,
    settle: (settlements) =>
      stored.settle(settlements).catch((error: unknown) => {
        refused.settlements += 1
        throw error
      }),
  }
  const notifier = createNotifier({ channels: { email }, storage, delivery: { pollMs: 20 } })
  await notifier.start()
  const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Full Access' })
  const api = serve(notifier, { https: 'allow-loopback' })
  const server = createServer((req, res) => void handleNodeRequest(api, req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve))
    await notifier.stop().catch(() => {})
    remove()
  })
  const { port } = server.address() as AddressInfo
  const send = (body: string): Promise<Answer> =>
    call(port, {
      method: 'POST',
      path: '/v1/notify',
      headers: { authorization: `Bearer ${secret}` },
      // A page of its own, so that a full disk has no room for it.
      body: { channel: 'email', to: 'ada@example.com', body: `${body} ${'x'.repeat(60_000)}` },
    })
  return { notifier, handle, file, email, refused, send, port }
}

it.each(Object.keys(FAULTS))('%s is a 503 with Retry-After, never a 2xx, and loses nothing', async (name) => {
  const { notifier, handle, file, email, send, refused } = await world()
  const fault = FAULTS[name]
  if (fault === undefined) throw new Error('no fault')
  // One is with its provider when it comes: its outcome cannot be recorded until it goes.
  let answer = (_accepted: object): void => {}
  email.behave(
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  const before = await send('before')
  expect(before.status).toBe(201)
  await eventually(() => email.calls.length === 1)
  email.behave((_message, { notificationId }) => ({ kind: 'accepted', providerMessageId: notificationId }))

  fault.begin(handle, file)
  const during = await Promise.all(['a', 'b', 'c'].map(send))
  for (const { status, headers, text } of during) {
    expect([status, headers['retry-after'] !== undefined], text).toEqual([503, true])
  }
  // Too long for what is left of the pages that are there.
  answer({ kind: 'accepted', providerMessageId: 'held'.repeat(10_000) })
  await eventually(() => refused.settlements > 0)
  fault.end(handle)

  const after = await send('after')
  expect(after.status, after.text).toBe(201)
  const { items } = await notifier.notifications.list()
  expect(items.map(({ id }) => id)).toEqual([after.json?.id, before.json?.id])
  await eventually(async () => {
    const { items: ended } = await notifier.notifications.list({ status: 'sent' })
    return ended.length === 2
  })
  // No second hand-over: the lease lasted, and its outcome was recorded late.
  expect(email.calls.length).toBe(2)
})

it('a database that is gone is a 503 for every call, also of health; after a restart everything is there', async () => {
  const { notifier, handle, file, send, port } = await world()
  expect((await send('before')).status).toBe(201)
  await eventually(async () => (await notifier.notifications.list({ status: 'sent' })).items.length === 1)
  handle.close()
  // Not even the key can be looked up: no word of whether it is right.
  expect((await send('during')).status).toBe(503)
  expect((await call(port, { path: '/health' })).status).toBe(503)
  await notifier.stop()
  const again = await openSqlite({ file })
  vi.restoreAllMocks()
  const { items } = await again.storage.notifications.list(
    { organizationId: 'org_default' },
    { limit: 10, offset: 0 },
  )
  expect(items.map(({ status }) => status)).toEqual(['sent'])
  await again.storage.stop()
})
