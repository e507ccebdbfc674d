import { describe, expect, it } from 'vitest'
import type { Person, RecipientOptions } from '../../../../src/features/recipients/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const MINUTE = 60_000
const ada: Person = { channels: { email: 'ada@example.com', push: ['one', 'two'] }, locale: 'de-CH' }

/** A notifier whose people can be changed. */
async function start(change: { resolve?: RecipientOptions['resolve']; timeoutMs?: number } = {}) {
  const world = notifierWorld()
  const people = new Map<string, Person>([['user:42', ada]])
  const asked: (readonly string[])[] = []
  const [email, push] = [recordingProvider({ name: 'mailer' }), recordingProvider({ name: 'pusher' })]
  const notifier = await world.start({
    channels: { email, push },
    recipients: {
      resolve(ids) {
        asked.push(ids)
        return new Map(ids.flatMap((id) => (people.has(id) ? [[id, people.get(id)] as const] : [])))
      },
      ...change,
    },
  })
  return { ...world, people, asked, email, push, notifier }
}

const text = { channel: 'email', body: 'Hello' } as const
const toAda = { ...text, recipient: 'user:42' } as const

describe('a send to a recipient', () => {
  it('pins the address and keeps the id beside it', async () => {
    const { notifier, email, ended } = await start()
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ to: 'ada@example.com', status: 'queued' })
    expect(sent).not.toHaveProperty('groupId')
    await ended(notifier, sent.id)
    const found = await notifier.notifications.get(sent.id)
    expect(found).toMatchObject({
      to: 'ada@example.com',
      recipient: 'user:42',
      groupId: null,
      status: 'sent',
    })
    expect(email.messages[0]?.to).toBe('ada@example.com')
    const { items } = await notifier.notifications.list({ recipient: 'user:42' })
    expect(items.map(({ id }) => id)).toEqual([sent.id])
  })

  it('becomes a group for several addresses, in one commit', async () => {
    const { notifier, push, ended } = await start()
    const sent = await notifier.send({ ...toAda, channel: 'push', subject: 'Hi' })
    expect(sent).toMatchObject({
      to: 'one',
      groupId: expect.stringMatching(/^grp_/),
      ids: [sent.id, expect.any(String)],
    })
    for (const id of sent.ids ?? []) await ended(notifier, id)
    expect(push.messages.map(({ to }) => to).sort()).toEqual(['one', 'two'])
    const { items } = await notifier.notifications.list({ groupId: sent.groupId })
    expect(items.map(({ id }) => id).sort()).toEqual([...(sent.ids ?? [])].sort())
  })

  it('is skipped, visibly, without an address on the channel', async () => {
    const { notifier, email, people, ended } = await start()
    people.set('user:42', { channels: {} })
    const { id, to } = await notifier.send(toAda)
    expect(to).toBe('')
    expect(await ended(notifier, id)).toBe('skipped')
    expect((await notifier.notifications.get(id)).error).toMatchObject({ code: 'no_address' })
    expect(email.messages).toEqual([])
  })

  it('is refused for an unknown person, and names the id', async () => {
    const { notifier } = await start()
    await expect(notifier.send({ ...text, recipient: 'user:7' })).rejects.toMatchObject({
      code: 'unknown_recipient',
      status: 422,
      details: { recipient: 'user:7' },
    })
  })

  it.each([
    ['both', { ...mail, recipient: 'user:42' }, 'invalid_parameter'],
    ['neither', text, 'missing_required_field'],
    ['a long id', { ...text, recipient: 'x'.repeat(256) }, 'invalid_parameter'],
    ['two lines', { ...text, recipient: 'a\nb' }, 'invalid_parameter'],
  ])('takes exactly one of "to" and "recipient": %s', async (_what, message, code) => {
    const { notifier, asked } = await start()
    await expect(notifier.send(message as never)).rejects.toMatchObject({ code })
    expect(asked).toEqual([])
  })

  it('needs the option', async () => {
    const world = notifierWorld()
    const notifier = await world.start({ channels: { email: recordingProvider() } })
    await expect(notifier.send(toAda)).rejects.toMatchObject({ code: 'invalid_parameter', status: 422 })
  })

  it('is not resolved again for a repeated idempotency key', async () => {
    const { notifier, asked, people } = await start()
    const first = await notifier.send(toAda, { idempotencyKey: 'k' })
    people.clear()
    const again = await notifier.send(toAda, { idempotencyKey: 'k' })
    expect(again).toEqual({ ...first, replayed: true })
    expect(asked).toHaveLength(1)
  })

  it('shares a look-up with simultaneous sends', async () => {
    const { notifier, asked, people } = await start()
    for (let index = 0; index < 20; index += 1) people.set(`user:${index}`, ada)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => notifier.send({ ...text, recipient: `user:${index % 10}` })),
    )
    expect(asked.length).toBeLessThan(5)
    expect(new Set(asked.flat()).size).toBe(10)
  })
})

describe('a batch', () => {
  it('looks up its people in sets, and validates each item', async () => {
    const { notifier, asked, people } = await start()
    for (let index = 0; index < 2_500; index += 1) people.set(`p${index}`, ada)
    const messages = Array.from({ length: 2_500 }, (_, index) => ({ ...text, recipient: `p${index}` }))
    const result = await notifier.sendBatch([...messages, { ...text, recipient: 'nobody' }, mail])
    expect([result.accepted, result.rejected]).toEqual([2_501, 1])
    expect(result.items[2_500]).toMatchObject({ index: 2_500, error: { code: 'unknown_recipient' } })
    expect(asked.map(({ length }) => length)).toEqual([1_000, 1_000, 501])
  })

  it('answers a group as its first, with all ids', async () => {
    const { notifier } = await start()
    const { items, accepted } = await notifier.sendBatch(
      [{ ...toAda, channel: 'push', subject: 'Hi' }, mail],
      { idempotencyKey: 'b' },
    )
    expect(accepted).toBe(2)
    expect(items).toMatchObject([
      { index: 0, groupId: expect.any(String), ids: [expect.any(String), expect.any(String)] },
      { index: 1, id: expect.any(String) },
    ])
    const again = await notifier.sendBatch([{ ...toAda, channel: 'push', subject: 'Hi' }, mail], {
      idempotencyKey: 'b',
    })
    expect(again.items).toEqual(items)
  })

  it('stores nothing if the resolver fails', async () => {
    const { notifier } = await start({ resolve: () => Promise.reject(new Error('database is down')) })
    await expect(notifier.sendBatch([toAda, mail])).rejects.toMatchObject({ code: 'service_unavailable' })
    expect((await notifier.notifications.list()).items).toEqual([])
  })
})

describe('a failing resolver', () => {
  it('is an outage: rejecting', async () => {
    const { notifier } = await start({ resolve: () => Promise.reject(new Error('database is down')) })
    await expect(notifier.send(toAda)).rejects.toMatchObject({
      code: 'service_unavailable',
      status: 503,
      retryAfterMs: 5_000,
    })
  })

  it('is an outage: hanging', async () => {
    let aborted = false
    const { notifier, clock } = await start({
      timeoutMs: 2_000,
      resolve: (_ids, { signal }) =>
        new Promise(() =>
          signal.addEventListener('abort', () => {
            aborted = true
          }),
        ),
    })
    const sending = notifier.send(toAda)
    const refused = expect(sending).rejects.toMatchObject({ code: 'service_unavailable' })
    await clock.advance(2_001)
    await refused
    expect(aborted).toBe(true)
  })

  it.each([
    ['a list', []],
    ['a text', 'people'],
    ['nothing', undefined],
  ])('answers all in the wrong shape: %s', async (_what, people) => {
    const { notifier } = await start({ resolve: () => people as never })
    const wrong = { code: 'invalid_configuration', details: { option: 'recipients.resolve' } }
    await expect(notifier.send(toAda)).rejects.toMatchObject(wrong)
    await expect(notifier.sendBatch([toAda, mail])).rejects.toMatchObject(wrong)
  })

  it.each([['a function'], ['a negative timeout'], ['an unknown field']])(
    'is refused as an option: %s',
    async (what) => {
      const recipients = {
        'a function': () => new Map(),
        'a negative timeout': { resolve: () => new Map(), timeoutMs: -1 },
        'an unknown field': { resolve: () => new Map(), find: 1 },
      }[what]
      const world = notifierWorld()
      const starting = world.start({
        channels: { email: recordingProvider() },
        recipients: recipients as never,
      })
      await expect(starting).rejects.toMatchObject({ code: 'invalid_configuration' })
    },
  )
})

describe('a message that waits for more than a minute', () => {
  const later = (world: { clock: { now(): number } }, ms = 10 * MINUTE) => ({
    ...toAda,
    sendAt: new Date(world.clock.now() + ms),
  })

  it('goes to the address of now, which the record then has', async () => {
    const world = await start()
    const { notifier, people, email, clock, ended } = world
    const { id } = await notifier.send(later(world))
    people.set('user:42', { channels: { email: 'new@example.com' } })
    await clock.advance(10 * MINUTE)
    expect(await ended(notifier, id)).toBe('sent')
    expect(email.messages.map(({ to }) => to)).toEqual(['new@example.com'])
    expect((await notifier.notifications.get(id)).to).toBe('new@example.com')
  })

  it('is skipped if the person or the address is gone', async () => {
    const world = await start()
    const { notifier, people, email, clock, ended } = world
    const { id } = await notifier.send(later(world))
    people.clear()
    await clock.advance(10 * MINUTE)
    expect(await ended(notifier, id)).toBe('skipped')
    expect(email.messages).toEqual([])
  })

  it('goes if an address has come meanwhile', async () => {
    const world = await start()
    const { notifier, people, clock, ended } = world
    people.set('user:42', { channels: {} })
    const { id } = await notifier.send(later(world))
    people.set('user:42', ada)
    await clock.advance(10 * MINUTE)
    expect(await ended(notifier, id)).toBe('sent')
  })

  it('waits ever longer for a resolver that is down for an hour, visibly, and at no cost', async () => {
    let down = false
    const world = await start({
      resolve: async (ids) => {
        if (down) throw new Error('database is down')
        return new Map(ids.map((id) => [id, ada]))
      },
    })
    const { notifier, email, clock, ended } = world
    const { id } = await notifier.send(later(world))
    down = true
    await clock.advance(70 * MINUTE)
    const waiting = await notifier.notifications.get(id)
    expect(waiting.status).toBe('queued')
    const failed = waiting.timeline.filter(({ event }) => event === 'attempt_failed')
    expect(failed.every(({ error }) => error?.code === 'service_unavailable')).toBe(true)
    const times = failed.map(({ timestamp }) => Date.parse(timestamp) / 1_000)
    const delays = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)))
    expect(delays).toEqual([30, 60, 120, 240, 480, 900, 900])
    expect(email.messages).toEqual([])
    down = false
    await clock.advance(15 * MINUTE)
    expect(await ended(notifier, id)).toBe('sent')
    expect(email.calls.map(({ context }) => context.attempt)).toEqual([1])
  })

  it('is never skipped in silence after an attempt that may have reached the person', async () => {
    const world = await start()
    const { notifier, people, email, clock, ended } = world
    email.behave(() => ({ kind: 'ambiguous', reason: 'timeout', retryAfterMs: 5 * MINUTE }))
    const { id } = await notifier.send(later(world, 2 * MINUTE))
    await clock.until(async () => (email.messages.length > 0 ? true : void (await clock.advance(MINUTE))))
    people.clear()
    expect(await ended(notifier, id)).toBe('failed')
    expect((await notifier.notifications.get(id)).error).toMatchObject({ code: 'delivery_unknown' })
  })
})
