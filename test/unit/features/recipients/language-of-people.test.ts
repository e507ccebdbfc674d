import { describe, expect, it } from 'vitest'
import type { SendInput } from '../../../../src/core/accept/input.ts'
import type { Person } from '../../../../src/features/recipients/options.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000
const at = '2026-01-15T12:00:00Z'
const invoice = {
  name: 'invoice',
  channel: 'email',
  subject: 'S',
  text: '{{locale}} {{@due}}',
  locales: { de: { text: '{{locale}} {{@due}}' }, fr: { text: '{{locale}} {{@due}}' } },
} as const
const messages = {
  en: { due: '{at, time, short}' },
  de: { due: '{at, time, short}' },
  fr: { due: '{at, time, short}' },
}

async function start(person: Partial<Person> = {}) {
  const world = notifierWorld()
  const ada = { channels: { email: 'ada@example.com' } }
  const people = new Map<string, Person>([
    ['ada', { ...ada, ...person }],
    ['plain', ada],
  ])
  const email = recordingProvider()
  const notifier = await world.start({
    channels: { email },
    messages,
    recipients: { resolve: () => people },
    publicUrl: 'https://example.org',
    secret: 'long enough for signing the links',
  })
  await notifier.templates.create(invoice)
  return { ...world, people, email, notifier }
}

const toAda = { template: 'invoice', recipient: 'ada', variables: { at } } as const

async function textOf(notifier: Notifier, id: string): Promise<string | undefined> {
  const { rendered } = await notifier.notifications.get(id, { rendered: true })
  return rendered?.body.replaceAll(/\s/g, ' ')
}

/** The text of a message that is sent alone, and of the same message in a batch. */
async function both(notifier: Notifier, message: SendInput) {
  const { id } = await notifier.send(message)
  const { items } = await notifier.sendBatch([{ ...message, locale: 'fr' }, message])
  const [, item] = items
  const inBatch = item !== undefined && 'id' in item ? item.id : ''
  return [await textOf(notifier, id), await textOf(notifier, inBatch)]
}

const DE_VIENNA = { locale: 'de-AT', timeZone: 'Europe/Vienna' }
const FR_TOKYO = { locale: 'fr', timeZone: 'Asia/Tokyo' }

it.each([
  ['nb', 'no'],
  ['no', 'nb'],
  ['nb-NO', 'no'],
  ['nn', 'nb'],
  ['nb', 'nn'],
  ['no', 'nn'],
])('a reader of %s gets texts and messages in %s', async (reader, written) => {
  const world = notifierWorld()
  const notifier = await world.start({
    channels: { email: recordingProvider() },
    messages: { en: { hi: 'Hello' }, [written]: { hi: 'Hei' } },
  })
  const text = { text: 'Text {{@hi}}' }
  await notifier.templates.create({
    ...{ name: 't', channel: 'email', subject: 'S', locale: 'en', text: 'English {{@hi}}' },
    locales: { de: text, [written]: text },
  })
  const { id } = await notifier.send({ to: 'a@example.com', channel: 'email', template: 't', locale: reader })
  expect(await textOf(notifier, id)).toBe('Text Hei')
  expect((await notifier.templates.missing()).items).toMatchObject([
    { missing: [{ locale: 'de', variant: false, keys: ['hi'] }] },
  ])
})

describe('the language and time zone of a message to a person', () => {
  it.each([
    ['the send', { ...DE_VIENNA }, { ...FR_TOKYO }, FR_TOKYO, 'fr 21:00'],
    ['the person', { ...DE_VIENNA }, {}, FR_TOKYO, 'de-AT 13:00'],
    ['the person, whatever the notation', { locale: 'de-at' }, {}, {}, 'de-AT 12:00'],
    ['the person, in the notation of POSIX', { locale: 'de_AT.UTF-8' }, {}, {}, 'de-AT 12:00'],
    ['the send, in that notation', {}, { locale: 'de_AT' }, {}, 'de-AT 12:00'],
    ['the organization', {}, {}, FR_TOKYO, 'fr 21:00'],
    ['the notifier', {}, {}, {}, 'en 12:00 PM'],
    ['the next one who has any', { locale: 'no locale', timeZone: 'Mars/Olympus' }, {}, FR_TOKYO, 'fr 21:00'],
    ['each of them for itself', { locale: 'de' }, { timeZone: 'Asia/Tokyo' }, FR_TOKYO, 'de 21:00'],
  ])('are those of %s', async (_who, person, given, organization, text) => {
    const { notifier } = await start(person)
    await notifier.organizations.update('org_default', organization)
    expect(await both(notifier, { ...toAda, ...given })).toEqual([text, text])
  })

  it('are those of each person in a batch', async () => {
    const { notifier } = await start(DE_VIENNA)
    const { items } = await notifier.sendBatch([toAda, { ...toAda, recipient: 'plain' }, toAda])
    const texts = items.map((item) => ('id' in item ? textOf(notifier, item.id) : undefined))
    expect(await Promise.all(texts)).toEqual(['de-AT 13:00', 'en 12:00 PM', 'de-AT 13:00'])
  })

  it.each([
    [{}, DE_VIENNA, 'de-AT'],
    [{ locale: 'fr' }, DE_VIENNA, 'fr'],
    [{}, {}, undefined],
  ])('go with the links to the pages: %o', async (given, person, locale) => {
    const { notifier, email, ended } = await start(person)
    await notifier.templates.create({
      name: 'links',
      channel: 'email',
      subject: 'S',
      text: '{{preferencesUrl}}',
    })
    const { id } = await notifier.send({ recipient: 'ada', template: 'links', ...given })
    await ended(notifier, id)
    const [, token = ''] = /t=([\w-]+)\./.exec(email.messages[0]?.body ?? '') ?? []
    const about = JSON.parse(Buffer.from(token, 'base64url').toString())
    expect(about.slice(4)).toEqual([id, 'ada', ...(locale === undefined ? [] : [locale])])
  })

  it('are pinned at the accept: for what waits, and for a resend', async () => {
    const { notifier, people, email, clock, ended } = await start(DE_VIENNA)
    const { id } = await notifier.send({ ...toAda, sendAt: new Date(clock.now() + HOUR) })
    people.set('ada', { channels: { email: 'new@example.com' }, ...FR_TOKYO })
    await clock.advance(HOUR)
    expect(await ended(notifier, id)).toBe('sent')
    const again = await notifier.notifications.resend(id)
    await ended(notifier, again.id)
    expect(email.messages.map(({ to, body }) => [to, body])).toEqual([
      ['new@example.com', 'de-AT 13:00'],
      ['new@example.com', 'de-AT 13:00'],
    ])
  })
})
