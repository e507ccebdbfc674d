import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { auditKind } from '../../src/core/audit/audit.ts'
import { pepperWrites } from '../../src/core/people/pepper-records.ts'
import { preferenceKind } from '../../src/features/preferences/records.ts'
import { suppressionKind } from '../../src/features/suppressions/records.ts'
import { createNotifier, type Provider, type Storage } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { inMemory } from '../support/in-memory.ts'
import { describeEachWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { WorkOptions } from './programs/work.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const mail = (to: string) => ({ channel: 'email', to, subject: 'Hi', body: 'Hi' }) as const
const refusing: Provider['send'] = async ({ to }) =>
  to === BOB ? { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' } : { kind: 'accepted' }

async function start(storage: Storage, secret?: string) {
  const notifier = createNotifier({
    storage,
    secret,
    channels: { email: { name: 'mail', send: refusing } },
    categories: { news: { name: 'News' } },
  })
  onTestFinished(() => notifier.stop())
  await notifier.start()
  return notifier
}

const page = { limit: 100, offset: 0 }
const own = { organizationId: 'org_default' }
const blocked = { code: 'blocked_recipient' }

/** What anyone can compute from a text. */
const unkeyed = (text: string) =>
  (['hex', 'base64url'] as const).map((as) => createHash('sha256').update(text).digest(as).slice(0, 32))

it('no record that outlives a person names the person', async () => {
  const storage = inMemory()
  const { suppressions, preferences, send, auditLog } = await start(storage)
  await suppressions.add({ channel: 'email', to: ADA })
  await send(mail(BOB))
  await eventually(async () => (await suppressions.list()).items.length === 2)
  // An application may name people by their addresses.
  for (const who of [{ recipient: ADA }, { channel: 'email', to: ADA } as const, { recipient: 'user:42' }])
    await preferences.change(who, { categories: { news: { email: false } } })
  await suppressions.remove({ channel: 'email', to: ADA })
  await suppressions.add({ channel: 'email', to: ADA })
  const entries = (await storage.records.list(auditKind, { organizationId: null }, page)).items
  const stored = [
    ...(await storage.records.list(suppressionKind, own, page)).items.map(({ id }) => id),
    ...(await storage.records.list(preferenceKind, own, page)).items.map((record) => JSON.stringify(record)),
    ...entries.map((record) => JSON.stringify(record)),
  ]
  expect([stored.length, entries.length]).toEqual([11, 6])
  for (const text of stored)
    for (const name of [ADA, BOB, 'user:42']) {
      for (const part of [name, ...unkeyed(name), ...unkeyed(`email\n${name}`)])
        expect(text).not.toContain(part)
    }
  for (const filter of [
    { recipient: ADA },
    { recipient: 'user:42' },
    { channel: 'email', to: 'Ada@Example.com' },
  ])
    expect((await auditLog.list(filter)).items).not.toEqual([])
})

it('a suppression is in force without its address', async () => {
  const storage = inMemory()
  const { suppressions, send } = await start(storage)
  const added = await suppressions.add({ channel: 'email', to: ADA })
  const [record] = (await storage.records.list(suppressionKind, own, page)).items
  if (record === undefined) throw new Error('It is not stored.')
  const { id, revision, value } = record
  const erased = { ...value, address: null }
  await storage.records.write([[{ kind: suppressionKind, do: 'replace', id, revision, value: erased }]])
  expect((await suppressions.list()).items).toEqual([{ ...added, to: null }])
  await expect(send(mail(ADA))).rejects.toMatchObject(blocked)
  expect(await suppressions.add({ channel: 'email', to: ADA, reason: 'complaint' })).toEqual({
    ...added,
    to: null,
  })
  await suppressions.remove({ channel: 'email', to: 'ADA@example.com' })
  await send(mail(ADA))
})

it('a rotation of the secret, and a restart, change no hash', async () => {
  const storage = inMemory()
  const first = await start(storage, 'the first secret of this service, long enough')
  await first.suppressions.add({ channel: 'email', to: ADA })
  await first.stop()
  const second = await start(storage, 'another secret of this service, long enough')
  await expect(second.send(mail(ADA))).rejects.toMatchObject(blocked)
})

it('a notifier does not start on a storage whose pepper was replaced', async () => {
  const storage = inMemory()
  await (await start(storage)).stop()
  const [{ kind, id, ...foreign }] = pepperWrites('the pepper of another storage')
  await storage.records.write([
    [
      { kind, do: 'remove', id },
      { kind, id, ...foreign },
    ],
  ])
  await expect(start(storage)).rejects.toMatchObject({ code: 'invalid_configuration' })
})

const directory = temporaryDirectory()
const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  ['SQLite', async () => ({ sqlite: join(directory, 'pepper.db') })],
  ['PostgreSQL', async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } })],
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

describeEachWith(STORAGES, missing, 'processes that start at once on an empty %s', (_name, locationOf) => {
  it('share a pepper: each finds what the others have suppressed', async () => {
    const location = await locationOf()
    const people = ['a', 'b', 'c'].map((name) => `${name}@example.com`)
    const programs = people.map((to) => {
      const task = { do: 'suppress', to } as const
      return runProgram('work', {
        location,
        port: 1,
        leaseMs: 60_000,
        deliver: false,
        task,
      } satisfies WorkOptions)
    })
    for (const program of programs) await program.said('suppressed')
    for (const program of programs) program.kill('SIGKILL')
    const notifier = await start(openStorage(location))
    for (const to of people) await expect(notifier.send(mail(to))).rejects.toMatchObject(blocked)
  })
})
