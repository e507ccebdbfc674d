import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fingerprint } from '../../../../src/core/accept/fingerprint.ts'
import type { SendInput } from '../../../../src/core/accept/input.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { replayOf } from '../../../support/replay-of.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const HOUR = 3_600_000

describe('an idempotency key', () => {
  async function start(options: Partial<NotifierOptions> = {}) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const notifier = createNotifier({ channels: { email: recordingProvider() }, storage, clock, ...options })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    const stored = async (organizationId = 'org_default') =>
      (await notifier.organization(organizationId).notifications.list()).items.length
    return { clock, notifier, stored }
  }

  it('makes one notification of fifty equal sends at once, and fifty equal answers', async () => {
    const { notifier, stored } = await start()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => notifier.send(mail, { idempotencyKey: 'k' })),
    )
    const [first] = answers
    for (const { replayed, ...answer } of answers)
      expect({ ...answer, replayed: false }).toEqual({ ...first, replayed: false })
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await stored()).toBe(1)
  })

  it('replays later, whatever the order and spelling of the same request', async () => {
    const { notifier, stored } = await start()
    const sendAt = '2026-12-24T18:00:00Z'
    const variables = { a: 1, b: { c: [1, 2], d: 'x' } }
    await notifier.templates.create({ name: 't', channel: 'email', body: 'Hello' })
    const message = { channel: mail.channel, to: mail.to, template: 't', sendAt, variables }
    const first = await notifier.send(message, { idempotencyKey: 'k' })
    const again = {
      variables: { b: { d: 'x', c: [1, 2] }, a: 1 },
      template: 't',
      to: mail.to,
      channel: mail.channel,
    }
    const other = await notifier.send(
      { ...again, sendAt: new Date(sendAt), subject: undefined },
      { idempotencyKey: 'k' },
    )
    expect(other).toEqual({ ...first, replayed: true })
    expect(await stored()).toBe(1)
  })

  it.each([
    ['body', { body: 'Bye' }],
    ['recipient', { to: 'eve@example.com' }],
    ['priority', { priority: 'high' }],
    ['variables', { variables: { a: 1 } }],
    ['sendAt', { sendAt: new Date(HOUR) }],
    ['expiresAt', { expiresAt: new Date(HOUR) }],
  ] as const)(
    'is refused for another %s, with the advice to repeat the first values',
    async (_name, change) => {
      const { notifier, stored } = await start()
      await notifier.send(mail, { idempotencyKey: 'k' })
      const other = notifier.send({ ...mail, ...change }, { idempotencyKey: 'k' })
      await expect(other).rejects.toMatchObject({
        code: 'idempotency_key_reused',
        status: 422,
        message: expect.stringContaining('equal values, also of sendAt and expiresAt'),
        details: { field: 'idempotencyKey' },
      })
      expect(await stored()).toBe(1)
    },
  )

  it('is refused for another body also when both come at once', async () => {
    const { notifier, stored } = await start()
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        notifier.send({ ...mail, body: `${n % 2}` }, { idempotencyKey: 'k' }),
      ),
    )
    const refused = results.filter((result) => result.status === 'rejected')
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'idempotency_key_reused' })
    expect(refused).toHaveLength(10)
    expect(await stored()).toBe(1)
  })

  it('replays after its template was deleted', async () => {
    const { notifier } = await start()
    await notifier.templates.create({ name: 't', channel: 'email', body: 'Hello {{name}}' })
    const message = { to: mail.to, template: 't', variables: { name: 'Ada' } }
    const first = await notifier.send(message, { idempotencyKey: 'k' })
    await notifier.templates.delete('t')
    expect(await notifier.send(message, { idempotencyKey: 'k' })).toEqual({ ...first, replayed: true })
    await expect(notifier.send(message)).rejects.toMatchObject({ code: 'template_not_found', status: 422 })
  })

  it('reproduces a batch, its refusals too', async () => {
    const { notifier, stored } = await start()
    await notifier.templates.create({ name: 't', channel: 'email', body: 'Hello' })
    const batch = [
      mail,
      { ...mail, to: 'nobody' },
      { to: mail.to, template: 't' },
      { ...mail, sendAt: '2026-12-24T18:00:00Z' },
    ]
    const answers = await Promise.all([1, 2, 3].map(() => notifier.sendBatch(batch, { idempotencyKey: 'k' })))
    await notifier.templates.delete('t')
    answers.push(await notifier.sendBatch(batch, { idempotencyKey: 'k' }))
    const [first] = answers
    expect(first).toMatchObject({
      accepted: 3,
      rejected: 1,
      items: [
        { status: 'queued' },
        { error: { code: 'invalid_email' } },
        { status: 'queued' },
        { status: 'scheduled' },
      ],
    })
    for (const answer of answers) expect(replayOf(answer)).toEqual(first && replayOf(first))
    expect(answers.at(-1)).toEqual(first && replayOf(first))
    expect(await stored()).toBe(3)
    const other = notifier.sendBatch(batch.slice(1), { idempotencyKey: 'k' })
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it('knows a batch again as it knows a send, by what is understood of it', async () => {
    const { notifier } = await start()
    const sendAt = '2026-12-24T18:00:00Z'
    const wrong = { ...mail, to: '' }
    const first = await notifier.sendBatch([{ ...mail, sendAt }, wrong], { idempotencyKey: 'k' })
    const spelled = [{ ...mail, sendAt: new Date(sendAt), note: 'unknown' } as SendInput, wrong]
    expect(await notifier.sendBatch(spelled, { idempotencyKey: 'k', strict: false })).toEqual(replayOf(first))
    const other = notifier.sendBatch([mail, wrong], { idempotencyKey: 'k' })
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' })
    const wronger = notifier.sendBatch(
      [
        { ...mail, sendAt },
        { ...wrong, body: '' },
      ],
      { idempotencyKey: 'k' },
    )
    await expect(wronger).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it('takes a batch of anything, and validates each item separately', async () => {
    const { notifier } = await start()
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    // As the rows of an application that know each other: more units lead through them than anybody can walk.
    const friends: Record<string, unknown>[] = Array.from({ length: 20 }, (_, id) => ({ id }))
    for (const friend of friends) friend.friends = friends
    const batch = [
      mail,
      { ...mail, variables: { deep } },
      { ...mail, variables: cyclic },
      { ...mail, variables: { friends } },
      { ...mail, variables: { x: 1n } },
      null,
      5,
    ]
    const send = () => notifier.sendBatch(batch as SendInput[], { idempotencyKey: 'k' })
    const first = await send()
    expect(first).toMatchObject({ accepted: 1, rejected: 6 })
    expect(await send()).toEqual(replayOf(first))
  })

  it('is apart for each organization and operation', async () => {
    const { notifier, stored } = await start()
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    const [own, others, batch] = await Promise.all([
      notifier.send(mail, { idempotencyKey: 'k' }),
      notifier.organization(organizationId).send({ ...mail, body: 'Bye' }, { idempotencyKey: 'k' }),
      notifier.sendBatch([mail], { idempotencyKey: 'k' }),
    ])
    expect([own.replayed, others.replayed, batch.replayed]).toEqual([false, false, false])
    expect([await stored(), await stored(organizationId)]).toEqual([2, 1])
  })

  it('is forgotten after a day', async () => {
    const { notifier, clock, stored } = await start()
    await notifier.send(mail, { idempotencyKey: 'k' })
    await clock.advance(24 * HOUR - 1)
    expect((await notifier.send(mail, { idempotencyKey: 'k' })).replayed).toBe(true)
    await clock.advance(1)
    expect((await notifier.send({ ...mail, body: 'Bye' }, { idempotencyKey: 'k' })).replayed).toBe(false)
    expect(await stored()).toBe(2)
  })

  it('of a send that was refused is free again', async () => {
    const { notifier } = await start()
    const refused = notifier.send({ ...mail, to: 'nobody' }, { idempotencyKey: 'k' })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_email' })
    expect((await notifier.send(mail, { idempotencyKey: 'k' })).replayed).toBe(false)
  })

  it('of a batch with no valid message is free again', async () => {
    const { notifier } = await start()
    const send = (to: string) =>
      notifier.sendBatch(
        [
          { ...mail, to },
          { ...mail, to: '' },
        ],
        { idempotencyKey: 'k' },
      )
    expect(await send('nobody')).toMatchObject({ accepted: 0, rejected: 2, replayed: false })
    expect(await send('nobody')).toMatchObject({ accepted: 0, rejected: 2, replayed: false })
    const sent = await send(mail.to)
    expect(sent).toMatchObject({ accepted: 1, rejected: 1, replayed: false })
    expect(await send(mail.to)).toEqual(replayOf(sent))
  })

  it.each([
    ['hour', { notificationsPerHour: 1 }],
    ['month', { notificationsPerMonth: 1 }],
  ])('of a batch of which the %s refused everything is free again', async (_name, limits) => {
    const { notifier, clock, stored } = await start({ plans: { tiny: { ...UNLIMITED, ...limits } } })
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme', plan: 'tiny' })
    // The last day of a month, at noon.
    await clock.advance(Date.UTC(2026, 0, 31, 12) - clock.now())
    await notifier.organization(organizationId).send(mail)
    const send = () =>
      notifier.organization(organizationId).sendBatch([mail, { ...mail, to: '' }], { idempotencyKey: 'k' })
    expect(await send()).toMatchObject({ accepted: 0, rejected: 2, replayed: false })
    await clock.advance(13 * HOUR)
    const later = await send()
    expect(later).toMatchObject({ accepted: 1, rejected: 1, replayed: false })
    expect(await send()).toEqual(replayOf(later))
    expect(await stored(organizationId)).toBe(2)
  })

  it.each(['', ' ', 'a b', 'ä', 'a\n', 'x'.repeat(256)])('cannot be %j', async (idempotencyKey) => {
    const { notifier } = await start()
    await expect(notifier.send(mail, { idempotencyKey })).rejects.toMatchObject({
      code: 'invalid_parameter',
      status: 400,
    })
    await expect(notifier.sendBatch([mail], { idempotencyKey })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })
})

describe('the fingerprint', () => {
  it('does not depend on the order of keys, nor on what is undefined', () => {
    const shuffle = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffle)
      if (typeof value !== 'object' || value === null) return value
      const members = Object.entries(value).reverse()
      return Object.fromEntries([
        ['undefined', undefined],
        ...members.map(([key, member]) => [key, shuffle(member)]),
      ])
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(shuffle(value))).toBe(fingerprint(value))
        expect(fingerprint(JSON.parse(JSON.stringify(value)))).toBe(fingerprint(value))
      }),
    )
  })

  it('of bytes is that of the same bytes alone', () => {
    const bytes = (last: number) => ({ content: Buffer.from([...Array(1_000).keys(), last]) })
    expect(fingerprint(bytes(1))).toBe(fingerprint(bytes(1)))
    expect(fingerprint(bytes(1))).not.toBe(fingerprint(bytes(2)))
  })

  it('tells the largest messages apart by what comes last in them', () => {
    const values = () =>
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`v${index}`, 'x'.repeat(99)]))
    const message = (last: string) => ({
      attachments: Array.from({ length: 10 }, () => ({ content: 'x'.repeat(980_000) })),
      blocks: Array.from({ length: 50 }, () => Array(900).fill(0)),
      body: 'x'.repeat(512 * 1024),
      data: values(),
      variables: { ...values(), last },
    })
    expect(fingerprint(message('1'))).not.toBe(fingerprint(message('2')))
  })

  it('differs for different values', () => {
    const values = [
      null,
      0,
      '0',
      '',
      [],
      {},
      [[]],
      [{}],
      ['a', 'b'],
      ['a,b'],
      { a: 'b' },
      { a: ['b'] },
      { ab: '' },
      true,
      'true',
      { a: null },
      1n,
      '1n',
    ]
    expect(new Set(values.map(fingerprint)).size).toBe(values.length)
  })
})
