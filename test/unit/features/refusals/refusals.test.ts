import { describe, expect, it } from 'vitest'
import type { RecordWrite } from '../../../../src/core/ports/storage/records.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import type { Notifier } from '../../../../src/index.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const channels = { email: recordingProvider(), sms: recordingProvider() }

/** Counts the commits that write refusals. */
function counted(storage: Storage): { readonly storage: Storage; readonly writes: () => number } {
  let writes = 0
  const records: Storage['records'] = {
    ...storage.records,
    write(sets: readonly (readonly RecordWrite[])[]) {
      if (sets.some((set) => set.some(({ kind }) => kind.name === 'refusals'))) writes += 1
      return storage.records.write(sets)
    },
  }
  return { storage: { ...storage, records }, writes: () => writes }
}

async function start(options: object = {}) {
  const clock = fakeClock()
  const { storage, writes } = counted(inMemory(clock))
  const world = notifierWorld({ clock, storage })
  return { ...world, writes, notifier: await world.start({ channels, ...options }) }
}

/** Sends something that is refused. */
async function refused(notifier: Pick<Notifier, 'send'>, message: object): Promise<void> {
  await expect(notifier.send(message as never)).rejects.toThrow()
}

/** Refused, although its address is valid. */
const wrong = (name: string): object => ({ ...mail, to: `${name}@example.com`, email: { cc: 7 } })

describe('a refused send', () => {
  it('is listed with code and cause, and without text and variables', async () => {
    const { notifier, clock } = await start()
    await notifier.suppressions.add({ channel: 'email', to: mail.to })
    await refused(notifier, { ...mail, subject: 'Secret', variables: { code: 'Secret' } })
    const { items } = await notifier.refusals.list()
    const at = new Date(clock.now()).toISOString()
    expect(items).toEqual([
      {
        at,
        firstAt: at,
        count: 1,
        code: 'blocked_recipient',
        message: 'The recipient is suppressed by hand.',
        field: 'to',
        channel: 'email',
        to: mail.to,
        recipient: null,
        template: null,
        sentBy: null,
      },
    ])
  })

  it('names the channel of a template, its template, and the person', async () => {
    const { notifier } = await start({
      recipients: {
        resolve: (ids: string[]) => new Map(ids.map((id) => [id, { channels: { email: mail.to } }])),
      },
    })
    await notifier.templates.create({ name: 'welcome', channel: 'email', subject: 'Hi', body: 'Hello' })
    await notifier.suppressions.add({ channel: 'email', to: mail.to })
    const about = { channel: 'email', to: mail.to, recipient: 'user:42', template: 'welcome' }
    await refused(notifier, { recipient: 'user:42', template: 'welcome' })
    expect((await notifier.refusals.list()).items).toMatchObject([about])
    await notifier.sendBatch([{ recipient: 'user:42', template: 'welcome' }])
    expect((await notifier.refusals.list()).items).toMatchObject([{ ...about, count: 2 }])
  })

  it('may have any form', async () => {
    const { notifier } = await start()
    for (const message of [null, 7, [], { channel: 7, to: {}, recipient: [], template: { email: 7 } }])
      await refused(notifier, message as never)
    const long = 'x'.repeat(5_000)
    await refused(notifier, { channel: 'email', to: long, template: long, body: 'x' })
    const { items } = await notifier.refusals.list()
    expect(items.map(({ count }) => count)).toEqual([1, 1, 3])
    expect(JSON.stringify(items).length).toBeLessThan(5_000)
  })

  it('has no address that its channel does not take', async () => {
    const { notifier } = await start()
    const named = ['Zoe <zoe@example.com>', ' zoe@example.com', 'zoe@']
    for (const to of named)
      for (const channel of ['email', 'fax', undefined]) await refused(notifier, { ...mail, channel, to })
    for (const channel of [undefined, 'fax', 'email'])
      await refused(notifier, { ...mail, channel, to: 'Ada@Example.com', email: { cc: 7 } })
    const { items } = await notifier.refusals.list()
    expect(items.flatMap(({ to, channel }) => (to === null ? [] : [[to, channel]]))).toEqual([
      ['Ada@Example.com', 'email'],
      ['Ada@Example.com', null],
    ])
    expect(items).toContainEqual(
      expect.objectContaining({ code: 'invalid_email', field: 'to', channel: 'email', to: null, count: 3 }),
    )
    expect(JSON.stringify(items)).not.toContain('zoe@')
  })

  it('is not listed after a validation, a fault of the service, or a send that is accepted', async () => {
    const { notifier } = await start()
    await notifier.send(mail)
    await expect(notifier.validate({ ...mail, to: 'ada@' })).rejects.toThrow()
    notifier.maintenance(true)
    await refused(notifier, mail)
    notifier.maintenance(false)
    expect((await notifier.refusals.list()).items).toEqual([])
  })

  it('tells of the object as it was', async () => {
    const { notifier } = await start()
    const message = { to: 'ada@example.com', template: 'missing' }
    const sending = refused(notifier, message)
    message.to = 'bob@example.com'
    await sending
    expect((await notifier.refusals.list()).items).toMatchObject([{ to: mail.to }])
  })

  it('over a limit tells which message it was', async () => {
    const { notifier } = await start({
      plans: {
        org_default: {
          requests: { limit: 10, windowMs: 60_000 },
          notificationsPerHour: 1,
          concurrentRequests: 5,
          notificationsPerMonth: null,
          storedBytes: null,
        },
      },
    })
    await notifier.send(mail)
    await refused(notifier, { ...mail, to: 'bob@example.com' })
    await notifier.sendBatch([{ ...mail, to: 'eve@example.com' }])
    expect((await notifier.refusals.list()).items).toMatchObject([
      { to: 'eve@example.com', channel: 'email', code: 'rate_limit_exceeded' },
      { to: 'bob@example.com', channel: 'email', code: 'rate_limit_exceeded' },
    ])
  })
})

/** With some 2,000 characters as JSON. */
const long = (name: string): object => ({ ...wrong(name), template: '\u0001'.repeat(500) })

describe('refusals have bounds', () => {
  it('of an organization: the latest ones stay', async () => {
    const { notifier, clock } = await start()
    const latest = async () => (await notifier.refusals.list({ limit: 100 })).items
    for (let number = 0; number < 40; number += 1) await refused(notifier, long(`${number}`))
    await clock.advance(1_000)
    for (let number = 40; number < 80; number += 1) await refused(notifier, long(`${number}`))
    const waiting = await latest()
    await clock.advance(1_000)
    for (const items of [waiting, await latest()]) {
      expect(items[0]).toMatchObject({ to: '79@example.com' })
      expect(items.length).toBeGreaterThan(20)
      expect(JSON.stringify(items).length).toBeLessThan(80_000)
    }
  })

  it('of all organizations together, while they are not stored', async () => {
    const { notifier, clock } = await start()
    const many = Array.from({ length: 40 }, (_, at) => long(`${at}`))
    for (let number = 0; number < 70; number += 1) {
      const { id } = await notifier.organizations.create({ id: `org_${number}`, name: 'Acme' })
      await notifier.organization(id).sendBatch(many as never)
    }
    const names = async () => (await notifier.refusals.list()).items.map(({ to }) => to)
    await refused(notifier, wrong('late'))
    expect(await names()).toEqual([])
    await clock.advance(1_000)
    await refused(notifier, wrong('later'))
    expect(await names()).toEqual(['later@example.com'])
  })
})

describe('the list', () => {
  it('finds an address in any spelling, a person, a channel and a code', async () => {
    const { notifier } = await start()
    await refused(notifier, { ...mail, to: 'Ada@BÜCHER.example', email: { cc: 7 } })
    await refused(notifier, { channel: 'sms', to: '+43660123456', body: 'x', sms: { x: 7 } })
    await refused(notifier, { recipient: 'user:42', channel: 'sms', body: 'x' })
    const codes = async (query: object) =>
      (await notifier.refusals.list(query)).items.map(({ to, recipient }) => to ?? recipient)
    expect(await codes({ channel: 'email', to: 'ada@xn--bcher-kva.example' })).toEqual(['Ada@BÜCHER.example'])
    expect(await codes({ to: 'ADA@bücher.example' })).toEqual(['Ada@BÜCHER.example'])
    expect(await codes({ to: '+43660123456' })).toEqual(['+43660123456'])
    expect(await codes({ channel: 'sms' })).toEqual(['user:42', '+43660123456'])
    expect(await codes({ recipient: 'user:42' })).toEqual(['user:42'])
    expect(await codes({ channel: 'sms', to: '+43660123456', code: 'invalid_parameter' })).toEqual([
      '+43660123456',
    ])
    await expect(notifier.refusals.list({ channel: 'fax' })).rejects.toMatchObject({
      code: 'invalid_channel',
    })
  })

  it('has the last 100, in pages that new ones do not shift', async () => {
    const { notifier } = await start()
    for (let number = 0; number < 130; number += 1) await refused(notifier, wrong(`${number}`))
    const first = await notifier.refusals.list({ limit: 60 })
    expect(first.items.map(({ to }) => to)).toEqual(
      Array.from({ length: 60 }, (_, at) => `${129 - at}@example.com`),
    )
    await refused(notifier, wrong('new'))
    const second = await notifier.refusals.list({ limit: 60, cursor: first.nextCursor ?? '' })
    expect(second.items.map(({ to }) => to)).toEqual(
      Array.from({ length: 39 }, (_, at) => `${69 - at}@example.com`),
    )
    expect(second.nextCursor).toBeNull()
    expect((await notifier.refusals.list({ offset: 99 })).items).toHaveLength(1)
  })

  it('shows each organization its own', async () => {
    const { notifier, clock } = await start()
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const acme = notifier.organization('org_acme')
    await refused(acme, wrong('x'))
    await refused(notifier.organization('org_none'), wrong('x'))
    await clock.advance(1_000)
    expect((await acme.refusals.list()).items).toHaveLength(1)
    expect((await notifier.refusals.list()).items).toEqual([])
  })
})

describe('refusals are stored', () => {
  it('once a second, however many there are, and none for what is accepted', async () => {
    const { notifier, clock, writes, errors } = await start()
    for (let number = 0; number < 1_000; number += 1) await refused(notifier, wrong(`${number}`))
    await notifier.sendBatch(Array.from({ length: 1_000 }, (_, at) => wrong(`batch${at}`)) as never)
    for (let number = 0; number < 10; number += 1) await notifier.send(mail)
    expect(writes()).toBe(0)
    await clock.advance(1_000)
    expect(writes()).toBe(1)
    await clock.advance(60_000)
    expect(writes()).toBe(1)
    expect((await notifier.refusals.list()).items[0]).toMatchObject({ to: 'batch999@example.com' })
    expect(errors).toEqual([])
  })

  it('together with those of other processes, and equal ones as one', async () => {
    const { notifier, clock, start: another } = await start()
    const other = await another({ channels })
    await refused(notifier, wrong('a'))
    await refused(other, wrong('b'))
    await refused(other, wrong('a'))
    const before = clock.now()
    await clock.advance(1_500)
    await refused(notifier, wrong('b'))
    await clock.advance(1_000)
    expect((await other.refusals.list()).items).toMatchObject([
      {
        to: 'b@example.com',
        count: 2,
        firstAt: new Date(before).toISOString(),
        at: new Date(before + 1_500).toISOString(),
      },
      { to: 'a@example.com', count: 2 },
    ])
  })

  it('at a stop', async () => {
    const { notifier, clock, start: another } = await start()
    await refused(notifier, wrong('a'))
    const stopped = notifier.stop()
    await clock.advance(2_000)
    await stopped
    expect((await (await another({ channels })).refusals.list()).items).toMatchObject([
      { to: 'a@example.com' },
    ])
  })

  it('not under maintenance, but after it', async () => {
    const { notifier, clock, writes } = await start()
    await refused(notifier, wrong('a'))
    notifier.maintenance(true)
    await clock.advance(5_000)
    expect(writes()).toBe(0)
    notifier.maintenance(false)
    await clock.advance(1_000)
    expect(writes()).toBe(1)
  })

  it('until they are older than logDays', async () => {
    const { notifier, clock } = await start({ retention: { logDays: 2 } })
    await refused(notifier, wrong('a'))
    await clock.advance(36 * 3_600_000)
    await refused(notifier, wrong('b'))
    await clock.advance(13 * 3_600_000)
    expect((await notifier.refusals.list()).items).toMatchObject([{ to: 'b@example.com' }])
  })

  it('until their organization is deleted', async () => {
    const { notifier, clock } = await start()
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const acme = notifier.organization('org_acme')
    await refused(acme, wrong('a'))
    await clock.advance(1_000)
    await refused(acme, wrong('b'))
    const deleted = notifier.organizations.delete('org_acme')
    await clock.until(async () => (await deleted) !== undefined)
    await clock.advance(10_000)
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    expect((await acme.refusals.list()).items).toEqual([])
  })
})
