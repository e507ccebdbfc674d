import { describe, expect, it } from 'vitest'
import type { Person } from '../../../../src/features/recipients/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const MINUTE = 60_000
const GOOD: Person = { channels: { email: 'ada@example.com', sms: '+4915112345678', push: ['one', 'two'] } }

/** People in a plain object, as an application may keep them. */
async function start() {
  const world = notifierWorld()
  const people: Record<string, unknown> = { good: GOOD }
  const [email, sms, push] = ['mailer', 'texter', 'pusher'].map((name) => recordingProvider({ name }))
  const notifier = await world.start({
    channels: { email, sms, push } as never,
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, people[id] as Person])) },
  })
  const inTen = () => new Date(world.clock.now() + 10 * MINUTE)
  return { ...world, people, email, sms, push, notifier, inTen }
}

const mailTo = (recipient: string) => ({ channel: 'email', body: 'Hello', recipient }) as const
const textTo = (recipient: string) => ({ channel: 'sms', body: 'Hello', recipient }) as const
const pushTo = (recipient: string) => ({ channel: 'push', subject: 'Hi', body: 'Hello', recipient }) as const

const DEVICES = Array.from({ length: 101 }, (_, index) => `device ${index}`)

describe.each<readonly [string, string, unknown]>([
  ['no object', 'bad', 5],
  ['no channels', 'bad', {}],
  ['channels that are no object', 'bad', { channels: 5 }],
  ['a list of channels', 'bad', { channels: ['secret@example.com'] }],
  ['a number as an address', 'bad', { channels: { email: 7 } }],
  ['a number in a list', 'bad', { channels: { email: ['secret@example.com', 7] } }],
  ['101 devices', 'bad', { channels: { email: 'secret@example.com', push: DEVICES } }],
  ['a member of every object', 'constructor', undefined],
  ['the prototype', '__proto__', undefined],
])('a person whose data is wrong: %s', (_what, id, person) => {
  const wrong = { code: 'invalid_person', details: { field: 'recipient', recipient: id } }

  async function startWith() {
    const world = await start()
    if (person !== undefined) world.people[id] = person
    return world
  }

  it('is refused alone, in a batch and beside other sends', async () => {
    const { notifier, errors } = await startWith()
    const { items } = await notifier.sendBatch([mailTo('good'), mailTo(id), mailTo('good')])
    expect(items).toMatchObject([{ id: expect.any(String) }, { error: wrong }, { id: expect.any(String) }])
    const [one, other] = await Promise.allSettled([notifier.send(mailTo(id)), notifier.send(mailTo('good'))])
    expect([one, other]).toMatchObject([{ reason: wrong }, { value: { to: 'ada@example.com' } }])
    expect(JSON.stringify([items, one])).not.toMatch(/resolve|secret/)
    expect(errors).toMatchObject([1, 2].map(() => ({ cause: { code: 'invalid_configuration' } })))
    expect(errors.every(({ message }) => message.includes(`"${id}"`))).toBe(true)
    expect(errors.map(({ message, cause }) => `${message} ${cause}`).join()).not.toContain('secret')
  })
})

it('many wrong ones of a look-up are one report', async () => {
  const { notifier, people, errors } = await start()
  for (let index = 0; index < 50; index += 1) people[`bad${index}`] = {}
  await notifier.sendBatch([...Array(50)].map((_, index) => mailTo(`bad${index}`)))
  expect(errors.map(({ message }) => message)).toEqual([
    'The data of the recipient "bad0" is wrong. So are the answers about 49 others. See `cause`.',
  ])
})

it('a getter that throws is a fault of its person', async () => {
  const { notifier, people } = await start()
  people.bad = Object.defineProperty({}, 'channels', {
    get: () => {
      throw new Error('broken')
    },
  })
  const { items } = await notifier.sendBatch([mailTo('bad'), mailTo('good')])
  expect(items).toMatchObject([{ error: { code: 'invalid_person' } }, { id: expect.any(String) }])
})

it('results in an object are its own properties', async () => {
  const world = notifierWorld()
  const notifier = await world.start({
    channels: { email: recordingProvider() },
    recipients: { resolve: () => Object.create({ inherited: GOOD }) },
  })
  for (const id of ['inherited', 'constructor', '__proto__'])
    await expect(notifier.send(mailTo(id))).rejects.toMatchObject({ code: 'unknown_recipient' })
})

it.each([[''], [null], [undefined], [[]], [['']], [['', null]]])(
  'databases hold %j for no address',
  async (email) => {
    const { notifier, people, ended } = await start()
    people.blank = { channels: { email, push: ['', 'one'] } }
    const { id, to } = await notifier.send(mailTo('blank'))
    expect([to, await ended(notifier, id)]).toEqual(['', 'skipped'])
    const sent = await notifier.send(pushTo('blank'))
    expect([sent.to, sent.groupId]).toEqual(['one', undefined])
  },
)

it.each([5, '', null, {}, 'x'.repeat(1_000), 'no locale'])(
  'a locale or time zone of no use counts as none: %j',
  async (value) => {
    const { notifier, people, email, ended } = await start()
    people.odd = { ...GOOD, locale: value, timeZone: value }
    const { id } = await notifier.send(mailTo('odd'))
    expect(await ended(notifier, id)).toBe('sent')
    expect(email?.messages).toHaveLength(1)
  },
)

describe('the late look-up', () => {
  /** Messages to twenty people, of whom one changes. */
  async function startTwenty(change: unknown) {
    const world = await start()
    const { notifier, people, inTen } = world
    const ids = [...Array(20)].map((_, index) => `p${index}`)
    for (const id of ids) people[id] = { channels: { email: `${id}@example.com` } }
    const { items } = await notifier.sendBatch(ids.map((id) => ({ ...mailTo(id), sendAt: inTen() })))
    const sent = items.map((item) => ('id' in item ? item.id : ''))
    people.p7 = change
    await world.clock.advance(10 * MINUTE)
    const [odd = ''] = sent.splice(7, 1)
    for (const id of sent) expect(await world.ended(notifier, id)).toBe('sent')
    return { ...world, odd }
  }

  it('skips who has blanked their address', async () => {
    const { notifier, odd, ended } = await startTwenty({ channels: { email: '' } })
    expect(await ended(notifier, odd)).toBe('skipped')
  })

  it('lets only those wait whose data is wrong, until it is right', async () => {
    const { notifier, people, odd, ended, clock, errors } = await startTwenty({ channels: 'secret' })
    const waiting = await notifier.notifications.get(odd)
    expect(waiting.status).toBe('queued')
    expect(waiting.timeline.at(-1)?.error).toEqual(
      expect.objectContaining({
        code: 'service_unavailable',
        message: 'The data of the recipient "p7" is wrong.',
      }),
    )
    expect(errors).toMatchObject([
      { message: expect.stringContaining('"p7"'), cause: { code: 'invalid_configuration' } },
    ])
    expect(`${errors[0]?.message} ${errors[0]?.cause}`).not.toContain('secret')
    people.p7 = GOOD
    await clock.advance(MINUTE)
    expect(await ended(notifier, odd)).toBe('sent')
  })

  it('tells the operator why a resolver fails, and tenants nothing of the option', async () => {
    const world = await start()
    const { notifier, people, inTen, errors } = world
    const { id } = await notifier.send({ ...mailTo('good'), sendAt: inTen() })
    Object.defineProperty(people, 'good', {
      get: () => {
        throw new Error('database is down')
      },
    })
    await world.clock.advance(10 * MINUTE)
    const { timeline } = await world.clock.until(async () => {
      const found = await notifier.notifications.get(id)
      return found.timeline.length > 1 ? found : null
    })
    expect(timeline.at(-1)?.error?.message).toBe('The address of the recipient could not be looked up.')
    expect(errors[0]).toMatchObject({ code: 'service_unavailable', cause: { message: 'database is down' } })
  })

  it.each([
    ['not valid', 'invalid_email'],
    ['a@b.co\r\nBcc: evil@e.com', 'invalid_email'],
  ])('ends a message whose new address is no address: %j', async (address, code) => {
    const { notifier, odd, ended, email } = await startTwenty({ channels: { email: address } })
    expect(await ended(notifier, odd)).toBe('failed')
    expect(await notifier.notifications.get(odd)).toMatchObject({ to: 'p7@example.com', error: { code } })
    expect(email?.messages).toHaveLength(19)
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it('goes to the first address that can be used, and says so', async () => {
    const { notifier, odd, ended, errors } = await startTwenty({
      channels: { email: ['nonsense', 'new@example.com'] },
    })
    expect(await ended(notifier, odd)).toBe('sent')
    expect((await notifier.notifications.get(odd)).to).toBe('new@example.com')
    expect(errors.map(({ message }) => message)).toEqual([
      'An address of the recipient "p7" was left out (invalid_email); others were used.',
    ])
  })

  it('applies the countries of the organization now, for a new number and for the old one', async () => {
    const { notifier, people, sms, clock, ended, inTen } = await start()
    people.moved = GOOD
    people.gone = GOOD
    const ids = ['good', 'moved', 'gone'].map(async (recipient) => {
      const { id } = await notifier.send({ ...textTo(recipient), sendAt: inTen() })
      return id
    })
    const [kept = '', moved = '', gone = ''] = await Promise.all(ids)
    people.moved = { channels: { sms: '+436641234567' } }
    people.gone = { channels: { sms: '+19005550199' } }
    await notifier.organizations.update('org_default', { smsCountries: ['+43'] })
    await clock.advance(10 * MINUTE)
    expect(await ended(notifier, moved)).toBe('sent')
    for (const id of [kept, gone]) {
      expect(await ended(notifier, id)).toBe('failed')
      expect(await notifier.notifications.get(id)).toMatchObject({ error: { code: 'region_not_permitted' } })
    }
    expect(sms?.messages.map(({ to }) => to)).toEqual(['+436641234567'])
  })

  it('takes another spelling for the same address, also in a group', async () => {
    const { notifier, people, email, clock, ended, inTen } = await start()
    people.ada = { channels: { email: ['Ada@example.com', 'ada@example.org'] } }
    const { ids = [] } = await notifier.send({ ...mailTo('ada'), sendAt: inTen() })
    people.ada = { channels: { email: ['ada@example.com', 'ada@example.org', 'nonsense'] } }
    await clock.advance(10 * MINUTE)
    for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(email?.messages.map(({ to }) => to).sort()).toEqual(['Ada@example.com', 'ada@example.org'])
  })
})

describe('several addresses', () => {
  it('are used without those that cannot be, which the operator hears of', async () => {
    const { notifier, people, errors } = await start()
    people.ada = { channels: { email: ['nonsense', 'ada@example.com', 'ada@example.org'] } }
    const sent = await notifier.send(mailTo('ada'))
    expect([sent.to, sent.ids?.length]).toEqual(['ada@example.com', 2])
    people.ada = { channels: { email: ['nonsense', 'ada@example.com'] } }
    const alone = await notifier.send(mailTo('ada'))
    expect([alone.to, alone.groupId]).toEqual(['ada@example.com', undefined])
    expect(errors.map(({ message }) => message)).toEqual([
      'An address of the recipient "ada" was left out (invalid_email); others were used.',
    ])
  })

  it('of which none can be used are a fault of the recipient', async () => {
    const { notifier, people, errors } = await start()
    people.ada = { channels: { email: ['nonsense', 'more of it'] } }
    const refused = { code: 'invalid_email', details: { field: 'recipient', recipient: 'ada' } }
    await expect(notifier.send(mailTo('ada'))).rejects.toMatchObject({ ...refused, status: 422 })
    const { items } = await notifier.sendBatch([mailTo('ada'), mailTo('good')])
    expect(items).toMatchObject([{ error: refused }, { id: expect.any(String) }])
    expect(errors).toEqual([])
  })

  it('may be in countries that the organization does not permit', async () => {
    const { notifier, people, sms, ended, errors } = await start()
    await notifier.organizations.update('org_default', { smsCountries: ['+49'] })
    people.ada = { channels: { sms: ['+19005550199', '+4915112345678'] } }
    people.away = { channels: { sms: ['+19005550199', '+19005550198'] } }
    const refused = { code: 'region_not_permitted', details: { field: 'recipient', recipient: 'away' } }
    await expect(notifier.send(textTo('away'))).rejects.toMatchObject({ ...refused, status: 422 })
    await expect(notifier.validate(textTo('away'))).rejects.toMatchObject(refused)
    const { ids = [] } = await notifier.send(textTo('ada'))
    const { items } = await notifier.sendBatch([textTo('ada'), textTo('away')])
    expect(items).toMatchObject([{ ids: [expect.any(String), expect.any(String)] }, { error: refused }])
    const inBatch = (items[0] as { readonly ids?: readonly string[] }).ids ?? []
    for (const [foreign = '', own = ''] of [ids, inBatch]) {
      expect(await ended(notifier, foreign)).toBe('failed')
      expect(await notifier.notifications.get(foreign)).toMatchObject({
        to: '+19005550199',
        error: { code: 'region_not_permitted' },
      })
      expect(await ended(notifier, own)).toBe('sent')
    }
    expect(sms?.messages.map(({ to }) => to)).toEqual(['+4915112345678', '+4915112345678'])
    expect(errors).toEqual([])
  })

  it('are one, if they are other spellings of it', async () => {
    const { notifier, people } = await start()
    people.ada = { channels: { email: ['a@b.co', 'A@b.co', 'a@b.co'] } }
    const { to, ids } = await notifier.send(mailTo('ada'))
    expect([to, ids]).toEqual(['a@b.co', undefined])
  })
})

it('a batch makes at most 20,000 notifications', async () => {
  const { notifier, people } = await start()
  people.many = { channels: { push: DEVICES.slice(1) } }
  const { accepted, items } = await notifier.sendBatch([
    ...Array.from({ length: 199 }, () => pushTo('many')),
    ...[pushTo('good'), pushTo('many'), mailTo('good')],
  ])
  expect(accepted).toBe(201)
  expect(items[200]).toMatchObject({
    index: 200,
    error: { code: 'message_too_large', details: { field: 'notifications' } },
  })
})
