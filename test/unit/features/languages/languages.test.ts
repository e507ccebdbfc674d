import { describe, expect, it } from 'vitest'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const TO = 'ada@example.com'

async function open(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const channels = { email: recordingProvider(), sms: recordingProvider() }
  const notifier = await world.start({ channels, ...options })
  async function rendered(id: string) {
    return (await notifier.notifications.get(id, { rendered: true })).rendered
  }
  return { world, notifier, rendered }
}

const welcome = {
  name: 'welcome',
  channel: 'email',
  locale: 'en',
  subject: 'Hello',
  text: 'Hello {{name}}',
  locales: {
    de: { subject: 'Hallo', text: 'Hallo {{name}}' },
    'fr-BE': { text: 'Bonjour {{name}}, à Bruxelles' },
    fr: { text: 'Bonjour {{name}}' },
  },
} as const

const messages = {
  en: {
    letters: 'You have {n, plural, one {# letter} other {# letters}}.',
    only: 'English only',
    sum: '{amount, number, ::currency/EUR}',
    due: 'Due {at, date, long}',
  },
  ru: { letters: '{n, plural, one {# письмо} few {# письма} many {# писем} other {# письма}}' },
  de: { sum: '{amount, number, ::currency/EUR}', due: 'Fällig {at, date, long}' },
}

describe('a template in several locales', () => {
  it.each([
    ['de', 'Hallo Ada', 'Hallo'],
    ['de-AT', 'Hallo Ada', 'Hallo'],
    ['fr-BE', 'Bonjour Ada, à Bruxelles', 'Hello'],
    ['fr-CA', 'Bonjour Ada', 'Hello'],
    ['es', 'Hello Ada', 'Hello'],
    [undefined, 'Hello Ada', 'Hello'],
  ])('is sent in %s', async (locale, body, subject) => {
    const { notifier, rendered } = await open()
    await notifier.templates.create(welcome)
    const message = { to: TO, template: 'welcome', variables: { name: 'Ada' }, locale }
    const { id } = await notifier.send(message)
    expect(await rendered(id)).toMatchObject({ body, subject })
    const { items } = await notifier.sendBatch([message, { ...message, locale: 'de' }])
    const ids = items.map((item) => ('id' in item ? item.id : ''))
    expect((await rendered(ids[0] ?? ''))?.body).toBe(body)
    expect((await rendered(ids[1] ?? ''))?.body).toBe('Hallo Ada')
  })

  it('takes the locale of the organization, else that of the option', async () => {
    const { notifier } = await open({ locale: 'fr' })
    await notifier.templates.create(welcome)
    expect((await notifier.templates.preview('welcome', { name: 'A' })).body).toBe('Bonjour A')
    await notifier.organizations.update('org_default', { locale: 'de' })
    expect((await notifier.templates.preview('welcome', { name: 'A' })).body).toBe('Hallo A')
    expect((await notifier.templates.preview('welcome', { name: 'A' }, { locale: 'fr' })).body).toBe(
      'Bonjour A',
    )
  })

  it('is that of the person to whom it is sent, unless the send has one', async () => {
    const people = {
      ada: { channels: { email: TO }, locale: 'de-AT', timeZone: 'Asia/Tokyo' },
      bob: { channels: { email: TO }, locale: 'nonsense!', timeZone: 'Mars/Olympus' },
    }
    const { notifier, rendered } = await open({ recipients: { resolve: async () => people }, messages })
    const text = '{{@due}}'
    await notifier.templates.create({
      name: 'a',
      channel: 'email',
      text,
      locales: { de: { text: `DE ${text}` } },
    })
    const variables = { at: '2026-01-31T23:30:00Z' }
    const message = { template: 'a', variables, channel: 'email' }
    const { items } = await notifier.sendBatch([
      { ...message, recipient: 'ada' },
      { ...message, recipient: 'ada', locale: 'en', timeZone: 'UTC' },
      { ...message, recipient: 'bob' },
    ])
    const bodies = items.map(async (item) => (await rendered('id' in item ? item.id : ''))?.body)
    expect(await Promise.all(bodies)).toEqual([
      'DE Fällig 1. Februar 2026',
      'Due January 31, 2026',
      'Due January 31, 2026',
    ])
    const { id } = await notifier.send({ ...message, recipient: 'ada' })
    expect((await rendered(id))?.body).toBe('DE Fällig 1. Februar 2026')
  })

  it('is not put together from scripts that a reader cannot read', async () => {
    const { notifier } = await open()
    const locales = {
      zh: { text: '简体' },
      'zh-Hant': { text: '繁體' },
      es: { text: 'es' },
      'es-419': { text: '419' },
    }
    await notifier.templates.create({ name: 'a', channel: 'sms', text: 'en', locales })
    const body = async (locale: string) => (await notifier.templates.preview('a', {}, { locale })).body
    expect(await body('zh-HK')).toBe('繁體')
    expect(await body('zh-SG')).toBe('简体')
    expect(await body('es-MX')).toBe('419')
    await notifier.templates.update('a', { locales: { 'zh-Hant': null } })
    expect(await body('zh-HK')).toBe('en')
  })

  it('counts segments in the locale', async () => {
    const { notifier } = await open()
    await notifier.templates.create({
      name: 'a',
      channel: 'sms',
      text: 'x'.repeat(100),
      locales: { ru: { text: 'ж'.repeat(100) } },
    })
    expect((await notifier.templates.preview('a')).sms?.segments).toBe(1)
    expect((await notifier.templates.preview('a', {}, { locale: 'ru' })).sms).toMatchObject({
      encoding: 'ucs-2',
      segments: 2,
    })
  })

  it('has versions with all locales, and changes one at a time', async () => {
    const { notifier } = await open()
    await notifier.templates.create(welcome)
    const changed = await notifier.templates.update('welcome', {
      locales: { de: { text: 'Servus' }, fr: null },
    })
    expect(changed).toMatchObject({ version: 2, locales: { de: { text: 'Servus' }, 'fr-BE': {} } })
    expect(Object.keys(changed.locales)).toEqual(['de', 'fr-BE'])
    const restored = await notifier.templates.restore('welcome', 1)
    expect(restored).toMatchObject({ version: 3, locales: { de: { text: 'Hallo {{name}}' } } })
    expect(
      await notifier.templates.update('welcome', { locales: restored.locales, locale: restored.locale }),
    ).toMatchObject({ version: 3 })
  })
})

describe('a message', () => {
  it('has the plurals, numbers and dates of its locale', async () => {
    const { notifier } = await open({ messages })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{@letters}}' })
    const letters = async (n: number, locale: string) =>
      (await notifier.templates.preview('a', { n }, { locale })).body
    expect(await letters(1, 'en')).toBe('You have 1 letter.')
    expect([await letters(1, 'ru'), await letters(2, 'ru'), await letters(5, 'ru')]).toEqual([
      '1 письмо',
      '2 письма',
      '5 писем',
    ])
    await notifier.templates.create({ name: 'b', channel: 'sms', text: '{{@sum}} {{@due}}' })
    const variables = { amount: 1234.5, at: '2026-01-31T23:30:00Z' }
    const due = async (locale: string, timeZone: string) =>
      (await notifier.templates.preview('b', variables, { locale, timeZone })).body.replaceAll('\u00a0', ' ')
    expect(await due('de', 'UTC')).toBe('1.234,50 € Fällig 31. Januar 2026')
    expect(await due('de', 'Europe/Vienna')).toBe('1.234,50 € Fällig 1. Februar 2026')
    expect(await due('en-US', 'UTC')).toBe('€1,234.50 Due January 31, 2026')
    expect(await due('it', 'UTC')).toBe('€1,234.50 Due January 31, 2026')
  })

  it('gives the placeholders of its values their type', async () => {
    const { notifier } = await open({
      messages: { en: { ...messages.en, some: '{kind, select, one {{ n, number }} other {{ on, date }}}' } },
    })
    const text =
      '{{kind}} {{amount}} {{#at}}{{at}}{{/at}} {{@sum}} {{@due}} {{@some}} {{#list}}{{a}}{{/list}}'
    const draft = { channel: 'sms', text, variables: { kind: 'one', amount: 1, at: '2026-01-31', n: 2 } }
    expect((await notifier.templates.previewDraft(draft)).placeholders).toEqual([
      { name: 'kind', required: true, type: 'text' },
      { name: 'amount', required: true, type: 'number' },
      { name: 'at', required: true, type: 'date' },
      { name: 'n', required: false, type: 'number' },
      { name: 'on', required: false, type: 'date' },
      { name: 'list', required: false, type: 'section' },
    ])
  })

  it('comes per key from the organization, then the application, in each locale', async () => {
    const { notifier } = await open({
      messages: { en: { a: 'app en a', b: 'app en b', c: 'app en c' }, fr: { b: 'app fr b' } },
    })
    await notifier.messages.put('fr-BE', { a: 'own fr-BE a' })
    await notifier.messages.put('en', { c: 'own en c' })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{@a}}, {{@b}}, {{@c}}' })
    expect((await notifier.templates.preview('a', {}, { locale: 'fr-BE' })).body).toBe(
      'own fr-BE a, app fr b, own en c',
    )
    expect((await notifier.templates.preview('a', {}, { locale: 'fr' })).body).toBe(
      'app en a, app fr b, own en c',
    )
  })

  it('comes from the locale of the organization if the reader has none, before that of the application', async () => {
    const { notifier } = await open({
      locale: 'en',
      messages: { en: { a: 'app en a', b: 'app en b', c: 'app en c' }, de: { b: 'app de b' } },
    })
    await notifier.organizations.update('org_default', { locale: 'de-CH' })
    await notifier.messages.put('de', { a: 'own de a' })
    await notifier.messages.put('fr', { z: 'own fr z' })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{@a}}, {{@b}}, {{@c}}' })
    // A reader whose locale has catalogues of which none has the key, and one without a locale.
    for (const locale of ['fr', undefined])
      expect((await notifier.templates.preview('a', {}, { locale })).body).toBe(
        'own de a, app de b, app en c',
      )
    const other = await notifier.organizations.create({ name: 'Other', plan: 'free' })
    const acme = notifier.organization(other.id)
    await acme.templates.create({ name: 'a', channel: 'sms', text: '{{@a}}' })
    expect((await acme.templates.preview('a')).body).toBe('app en a')
  })

  it('is escaped, and its values in any case', async () => {
    const { notifier } = await open({ messages: { en: { a: '<b>{x}</b> & co' } } })
    await notifier.templates.create({
      name: 'a',
      channel: 'email',
      html: '<p>{{@a}}|{{{@a}}}</p>',
      text: '{{@a}}',
    })
    expect(await notifier.templates.preview('a', { x: '<i>' })).toMatchObject({
      body: '<p>&lt;b&gt;&lt;i&gt;&lt;/b&gt; &amp; co|<b>&lt;i&gt;</b> & co</p>',
      text: '<b><i></b> & co',
    })
  })

  it('that no locale has is refused with its key, and never sent', async () => {
    const { notifier } = await open({ messages: { de: { a: 'x' } } })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{@a}} {{@no.key}}' })
    const message = { to: '+4930123456', template: 'a', locale: 'de-AT' }
    const refusal = {
      code: 'missing_translation',
      details: { keys: ['no.key'], locales: ['de-AT', 'de'] },
    }
    await expect(notifier.send(message)).rejects.toMatchObject({ ...refusal, status: 422 })
    expect(await notifier.sendBatch([message])).toMatchObject({ items: [{ error: refusal }] })
    await expect(notifier.templates.preview('a')).rejects.toMatchObject({ code: 'missing_translation' })
  })

  it.each([
    [{}, 'n'],
    [{ n: 'many' }, 'n'],
    [{ n: null }, 'n'],
    [{ n: 1, at: 'tomorrow' }, 'at'],
    [{ n: 2 }, 'at'],
  ])('refuses the values %j', async (variables, missing) => {
    const { notifier } = await open({
      messages: { en: { a: '{n, plural, one {# {at, date}} other {{at, date}}}' } },
    })
    await notifier.templates.create({ name: 'a', channel: 'email', text: '{{@a}}' })
    await expect(notifier.send({ to: TO, template: 'a', variables } as never)).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: [missing] },
    })
  })

  it('in a section takes the values of the item, and is empty without them', async () => {
    const { notifier } = await open({ messages: { en: { item: '{name}: {n, number}' } } })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{#items}}[{{@item}}]{{/items}}' })
    const items = [{ name: 'x', n: 1000 }, { name: 'y' }]
    expect((await notifier.templates.preview('a', { items })).body).toBe('[x: 1,000][]')
  })
})

describe('a layout', () => {
  it('knows the locale and the direction of the text', async () => {
    const { notifier } = await open({
      layouts: { brand: { html: '<html lang="{{locale}}" dir="{{dir}}">{{{content}}}</html>' } },
    })
    const locales = { ar: { html: '<p>ar</p>' } }
    await notifier.templates.create({
      name: 'a',
      channel: 'email',
      layout: 'brand',
      html: '<p>en</p>',
      locales,
    })
    const body = async (locale: string) => (await notifier.templates.preview('a', {}, { locale })).body
    expect(await body('ar-EG')).toBe('<html lang="ar-EG" dir="rtl"><p>ar</p></html>')
    expect(await body('fr')).toBe('<html lang="en" dir="ltr"><p>en</p></html>')
    expect((await notifier.templates.preview('a', { dir: 'mine' })).body).toContain('dir="mine"')
  })
})

describe('a notification', () => {
  it('keeps its language, catalogues and time zone', async () => {
    const { world, notifier, rendered } = await open({ messages: { en: { due: 'en {at, date, short}' } } })
    await notifier.messages.put('de', { due: 'am {at, date, long}' })
    await notifier.templates.create({ name: 'a', channel: 'email', text: '{{@due}}' })
    const variables = { at: '2026-01-31T23:30:00Z' }
    const { id } = await notifier.send({
      to: TO,
      template: 'a',
      variables,
      locale: 'de',
      timeZone: 'Asia/Tokyo',
    })
    await notifier.messages.put('de', { due: 'anders' })
    await notifier.messages.delete('de')
    await notifier.organizations.update('org_default', { locale: 'fr', timeZone: 'America/New_York' })
    const again = await notifier.notifications.resend(id)
    const other = await world.start({ channels: { email: recordingProvider() } })
    for (const each of [id, again.id]) {
      expect((await rendered(each))?.body).toBe('am 1. Februar 2026')
      const { rendered: there } = await other.notifications.get(each, { rendered: true })
      expect(there?.body).toBe('am 1. Februar 2026')
    }
  })
})

describe('catalogues', () => {
  it('are stored, listed, changed and deleted', async () => {
    const { notifier } = await open()
    expect(await notifier.messages.put('de-at', { a: 'x' }, { version: 0 })).toMatchObject({
      locale: 'de-AT',
      version: 1,
      count: 1,
    })
    await expect(notifier.messages.put('de-AT', { a: 'y' }, { version: 0 })).rejects.toMatchObject({
      code: 'version_conflict',
      details: { version: 1 },
    })
    await notifier.messages.put('de-AT', { a: 'y', b: 'z' }, { version: 1 })
    expect(await notifier.messages.get('de-AT')).toMatchObject({ messages: { a: 'y', b: 'z' }, version: 2 })
    await notifier.messages.put('cs', { a: 'x' })
    expect((await notifier.messages.list()).items.map(({ locale }) => locale)).toEqual(['cs', 'de-AT'])
    await notifier.messages.delete('cs')
    await expect(notifier.messages.delete('cs')).rejects.toMatchObject({ code: 'not_found' })
    await expect(notifier.messages.get('cs')).rejects.toMatchObject({ code: 'not_found' })
  })

  it.each([
    ['nonsense!', { a: 'x' }, 'locale'],
    ['de', { 'a b': 'x' }, 'messages.a b'],
    ['de', { a: '{x' }, 'messages.a'],
    ['de', { a: '{n, plural, one {x}}' }, 'messages.a'],
    ['de', { a: '{n, number, ::currency/EURO}' }, 'messages.a'],
    ['de', { a: 7 }, 'messages.a'],
    ['de', { a: '' }, 'messages.a'],
    ['de', { a: 'x'.repeat(5_001) }, 'messages.a'],
    ['de', { a: '{x}'.repeat(201) }, 'messages.a'],
    ['de', { a: '{n, plural, =1{} other{}}'.repeat(67) }, 'messages.a'],
    ['de', { a: '{n, plural, =1{{n, number, nonsense}} other{}}' }, 'messages.a'],
    ['de', { a: '{n, number, ::currency/EUR nonsense/X}' }, 'messages.a'],
    ['de', { a: '{n, date, nonsense}' }, 'messages.a'],
    ['de', { a: '{n, time, nonsense}' }, 'messages.a'],
    ['de', JSON.parse('{ "a": "x", "__proto__": "x" }'), 'messages'],
    ['__proto__', { a: 'x' }, 'locale'],
    ['de', Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`k${index}`, 'x'])), 'messages'],
    [
      'de',
      Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`k${index}`, 'x'.repeat(5_000)])),
      'messages',
    ],
  ])('refuse %s %.40j', async (locale, given, field) => {
    const { notifier } = await open()
    await expect(notifier.messages.put(locale, given as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field },
    })
  })

  it('have messages in all formats', async () => {
    const { notifier } = await open()
    const formats = [
      ...['integer', 'percent', '::currency/EUR', '::.00', '::compact-short'].map(
        (name) => `{n, number, ${name}}`,
      ),
      ...['short', 'medium', 'long', 'full', '::yMMMd'].map((name) => `{n, date, ${name}}`),
      '{n, number} {n, date} {n, time} {n, time, short} {n, selectordinal, one {#st} other {#th}}',
    ]
    const messages = { a: formats.join(' '), b: '{x}'.repeat(100) }
    expect(await notifier.messages.put('de', messages)).toMatchObject({ messages })
  })

  it.each([
    [{ messages: { en: { a: '{x' } } }, 'messages'],
    [{ messages: { '??': {} } }, 'messages.??'],
    [{ locale: 'nonsense!' }, 'locale'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
  ])('and languages in the options are checked: %j', async (options, option) => {
    await expect(open(options as never)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(`"${option}"`),
    })
  })

  it('of another organization are never read', async () => {
    const { notifier } = await open()
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    await notifier.organization('org_a').messages.put('en', { secret: 'x' })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: '{{@secret}}' })
    await expect(notifier.templates.preview('a')).rejects.toMatchObject({ code: 'missing_translation' })
  })
})

describe('missing translations', () => {
  it('are listed for each locale', async () => {
    const { notifier } = await open({ messages: { en: { a: 'x' } }, partials: { p: { text: '{{@b}}' } } })
    await notifier.messages.put('de', { b: 'y' })
    await notifier.templates.create({
      name: 'a',
      channel: 'sms',
      text: '{{@a}} {{> p}}',
      locales: { fr: { text: 'x' } },
    })
    await notifier.templates.create({ name: 'b', channel: 'sms', text: 'nothing' })
    const { items } = await notifier.templates.missing()
    expect(items).toMatchObject([
      {
        name: 'a',
        missing: [
          { locale: 'de', variant: true, keys: ['a'] },
          { locale: 'en', variant: false, keys: ['b'] },
          { locale: 'fr', variant: false, keys: ['a', 'b'] },
        ],
      },
    ])
  })
})
