import { createElement } from 'react'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { createNotifier, defineTemplates, type Translate } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { expectTemplates } from '../../src/testing/expect-templates.ts'
import { TO, withTemplates } from '../support/code-templates.ts'
import { inMemory } from '../support/in-memory.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ACCOUNT, created } from '../support/twilio.ts'

/* Messages of catalogues in the functions of templates in code. */

const messages = {
  en: {
    'welcome.title': 'Welcome, {name}',
    'welcome.items': '{count, plural, one {# letter} other {# letters}} since {at, date, long}',
    'code.text': 'Your code is {code}.',
    'only.english': 'English',
  },
  de: {
    'welcome.title': 'Willkommen, {name}',
    'welcome.items': '{count, plural, one {# Brief} other {# Briefe}} seit {at, date, long}',
    'code.text': 'Ihr Code ist {code}.',
  },
}

interface MailProps {
  readonly lang: string
  readonly t: Translate
  readonly count: number
}

function Mail({ lang, t, count }: MailProps) {
  const at = new Date('2026-02-01T00:00:00Z')
  return createElement(
    'html',
    { lang },
    createElement(
      'body',
      null,
      createElement('h1', null, t('welcome.title')),
      t('welcome.items', { count, at }),
    ),
  )
}

const templates = defineTemplates({
  welcome: {
    channel: 'email',
    variables: z.object({ name: z.string(), count: z.number() }),
    example: { name: 'Ada', count: 1 },
    messages: true,
    subject: ({ t }) => t('welcome.title'),
    html: ({ variables, t, locale }) => createElement(Mail, { lang: locale, t, count: variables.count }),
  },
  code: {
    channel: 'sms',
    variables: z.object({ code: z.string() }),
    messages: true,
    text: ({ variables, t, organization }) =>
      `${organization.name}: ${t('code.text', { code: variables.code.toUpperCase() })}`,
  },
})

async function delivering() {
  const mails = await startMailServer()
  const texts = await providerServer({ accept: created })
  onTestFinished(async () => {
    await mails.close()
    await texts.close()
  })
  const { port } = mails
  const notifier = createNotifier({
    storage: inMemory(),
    channels: {
      email: smtp({ host: '127.0.0.1', port, from: 'shop@example.org' }),
      sms: twilio({
        accountSid: ACCOUNT,
        authToken: 'a-secret-token',
        baseUrl: texts.url,
        from: '+15005550006',
      }),
    },
    templates,
    messages,
  })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  return { notifier, mails, texts }
}

describe('delivered messages of functions', () => {
  it('are in the language of each reader: a mail of React over SMTP', async () => {
    const { notifier, mails } = await delivering()
    for (const locale of ['en', 'de-AT'])
      await notifier.waitFor(
        (await notifier.send({ to: TO, template: 'welcome', variables: { name: 'A&B', count: 2 }, locale }))
          .id,
      )
    const [english, german] = mails.inbox.map(({ parsed }) => parsed)
    expect(english?.subject).toBe('Welcome, A&B')
    expect(english?.html).toMatch(
      /<html lang="en">.*<h1>Welcome, A&amp;B<\/h1>2 letters since February 1, 2026/,
    )
    expect(german?.subject).toBe('Willkommen, A&B')
    expect(german?.html).toMatch(
      /<html lang="de-AT">.*<h1>Willkommen, A&amp;B<\/h1>2 Briefe seit 1. Februar 2026/,
    )
  })

  it('are in the language of each reader: a text message', async () => {
    const { notifier, texts } = await delivering()
    await notifier.organizations.update('org_default', { name: 'Shop' })
    for (const locale of ['de', 'en']) {
      const message = { to: '+4915112345678', template: 'code', variables: { code: 'ab12' }, locale } as const
      await notifier.waitFor((await notifier.send(message)).id)
    }
    const bodies = texts.taken.map(({ body }) => new URLSearchParams(body.toString('utf8')).get('Body'))
    expect(bodies).toEqual(['Shop: Ihr Code ist AB12.', 'Shop: Your code is AB12.'])
  })
})

describe('the messages of a function', () => {
  /** A template whose text is what the function returns. */
  const withText = (text: (t: Translate, context: { readonly locale: string }) => string) =>
    withTemplates(
      defineTemplates({
        hi: { channel: 'email', subject: 'Hi', messages: true, text: ({ t, locale }) => text(t, { locale }) },
      }),
      { messages },
    )
  const hi = { to: TO, template: 'hi' } as const

  it('are looked up as those of mustache: the organization first, then other languages', async () => {
    const { notifier, sent } = await withText((t, { locale }) => `${locale}: ${t('only.english')}`)
    const of = async (locale: string) => (await sent((await notifier.send({ ...hi, locale })).id))?.body
    expect(await of('de')).toBe('de: English')
    // No catalogue is in that language, so the text is not either.
    expect(await of('ja')).toBe('en: English')
    await notifier.messages.put('de', { 'only.english': 'Deutsch' })
    expect(await of('de-CH')).toBe('de-CH: Deutsch')
  })

  it('are all named that no locale has, whatever the function makes of that', async () => {
    const { notifier } = await withText((t) => {
      const text = t('no.such') + t('none.either') + t('only.english')
      throw new Error(text)
    })
    const refused = {
      code: 'missing_translation',
      status: 422,
      details: { keys: ['no.such', 'none.either'], locales: ['de', 'en'] },
    }
    await expect(notifier.send({ ...hi, locale: 'de' })).rejects.toMatchObject(refused)
    expect((await notifier.sendBatch([hi])).items).toMatchObject([{ error: { code: 'missing_translation' } }])
    const { findings } = await notifier.templates.lint('hi', { variables: {} })
    expect(findings).toMatchObject([
      { rule: 'missing_message', excerpt: '{{@no.such}}', locales: ['en', 'de'] },
      { rule: 'missing_message', excerpt: '{{@none.either}}', locales: ['en', 'de'] },
      { rule: 'untranslated_message', locales: ['de'] },
    ])
  })

  it('that a locale lacks are found by lints and in tests', async () => {
    const { notifier } = await withText((t) => t('only.english'))
    const { findings, locales } = await notifier.templates.lint('hi', { variables: {} })
    expect([...locales].sort()).toEqual(['de', 'en'])
    expect(findings).toMatchObject([{ rule: 'untranslated_message', locales: ['de'] }])
    await expect(expectTemplates(notifier, { variables: { hi: {} } })).rejects.toThrow('"only.english"')
    expect((await notifier.templates.preview('hi', {}, { locale: 'de' })).body).toBe('English')
  })

  it('are read once for a batch, so that they use up little of its work', async () => {
    const { notifier } = await withText((t) => Array.from({ length: 20 }, () => t('only.english')).join())
    const { accepted } = await notifier.sendBatch(Array.from({ length: 10_000 }, () => hi))
    expect(accepted).toBe(10_000)
  })

  it('need their values, and take dates', async () => {
    const { notifier, sent } = await withText((t) => t('welcome.items', { count: 1, at: new Date(0) }))
    expect((await sent((await notifier.send(hi)).id))?.body).toBe('1 letter since January 1, 1970')
    const { notifier: wrong } = await withText((t) => t('welcome.items', { count: 1, at: 'soon' }))
    await expect(wrong.send(hi)).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: ['at'] },
    })
    const { notifier: lacking } = await withText((t) => t('welcome.title'))
    await expect(lacking.send(hi)).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: ['name'] },
    })
  })

  it('are bounded as those of mustache', async () => {
    const { notifier } = await withText((t) => {
      for (;;) t('only.english')
    })
    await expect(notifier.send(hi)).rejects.toMatchObject({ code: 'message_too_large' })
  })

  it('are only there with "messages: true", which only functions take', async () => {
    const { notifier } = await withTemplates(
      { hi: { channel: 'email', text: ({ t }: { t: Translate }) => t('only.english') } } as never,
      { messages },
    )
    await expect(notifier.send({ to: TO, template: 'hi' })).rejects.toMatchObject({
      code: 'template_error',
      message: expect.stringContaining('"messages: true"'),
    })
    const mustache = defineTemplates({ hi: { channel: 'email', text: '{{@only.english}}', messages: true } })
    expect(() => createNotifier({ channels: {}, templates: mustache })).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        details: { option: 'templates.hi.messages' },
      }),
    )
  })
})
