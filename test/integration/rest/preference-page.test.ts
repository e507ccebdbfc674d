import { afterEach, describe, expect, it } from 'vitest'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import type { PreferencesOf } from '../../../src/features/preferences/input.ts'
import type { NotifierOptions } from '../../../src/options.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import type { Answer } from '../../support/http-client.ts'
import { emailHash } from '../../support/person-hashes.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const ADA = { channel: 'email', to: 'ada@example.com' } as const
const PERSON = { recipient: 'user:42' } as const
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const secret = 'the secret of this service, long enough'
const signer = createLinkSigner([secret])
const categories = {
  news: { name: 'News & <offers>', description: 'Once a month' },
  ads: { name: 'Ads', default: false },
  security: { name: 'Security', required: true },
}

let host: Host
let hash: string
afterEach(() => host.close())

async function start(pages?: NotifierOptions['pages']): Promise<void> {
  host = await startHost({
    secret,
    categories,
    publicUrl: 'https://api.example.org/n',
    ...(pages && { pages }),
  })
  hash = await emailHash(host.storage, ADA.to)
}

const payload = (recipient?: string, locale?: string) =>
  JSON.stringify([
    'org_default',
    'email',
    hash,
    'news',
    'notif_1',
    ...(locale ? [recipient ?? '', locale] : recipient ? [recipient] : []),
  ])
const path = (...about: Parameters<typeof payload>) =>
  `/preferences?t=${signer.sign('preferences', payload(...about))}`

const get = (at: string, headers: Record<string, string> = {}): Promise<Answer> =>
  host.call({ path: at, headers })

const post = (at: string, fields: Record<string, string | string[]>): Promise<Answer> => {
  const body = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    ),
  )
  return host.call({ method: 'POST', path: at, body: body.toString(), headers: FORM })
}

const on = ({ text }: Answer): string[] =>
  [...text.matchAll(/name="on" value="([^"]+)" checked/g)].map(([, name = '']) => name)

const stored = async (who: PreferencesOf) => {
  const { channels, categories: cells } = await host.notifier.preferences.get(who)
  return { channels, categories: cells }
}

describe('the preference page', () => {
  it.each([
    ['text', 'text/plain', 'was=default:email news:email\r\non=news:email\r\n', 415],
    ['JSON', 'application/json', '{"was":"news:email"}', 415],
    [
      'parts',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="none"\r\n\r\n1\r\n--x--',
      415,
    ],
    ['other fields', FORM['content-type'], 'a=b', 422],
    ['nothing', FORM['content-type'], '', 422],
    ['thousands of fields', FORM['content-type'], `none=1${'&a'.repeat(4_096)}`, 422],
  ])('says that nothing is saved if it could not read the form: %s', async (_what, type, body, status) => {
    await start()
    const answer = await host.call({ method: 'POST', path: path(), body, headers: { 'content-type': type } })
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8'])
    expect(answer.text).toContain('<p role="alert">Nothing was saved')
    expect(answer.text).not.toContain('role="status"')
    expect(on(answer)).toEqual(['default:email', 'news:email'])
    expect((await host.notifier.preferences.get(ADA)).updatedAt).toBeNull()
    const lost = {
      method: 'POST',
      path: '/preferences?t=wrong',
      body,
      headers: { 'content-type': type },
    } as const
    expect((await host.call(lost)).status).toBe(404)
  })

  it('takes a form without a media type, and one with a charset', async () => {
    await start()
    for (const type of [undefined, `${FORM['content-type'].toUpperCase()}; charset=UTF-8`]) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const body = 'was=news%3Aemail'
      expect((await host.call({ method: 'POST', path: path(), body, headers })).status).toBe(303)
    }
    expect(on(await get(path()))).toEqual(['default:email'])
  })

  it('shows all categories with the present state, and changes nothing when it is read', async () => {
    await start()
    const page = await get(path())
    expect(page.status).toBe(200)
    expect(on(page)).toEqual(['default:email', 'news:email'])
    expect(page.text).toContain('>News &amp; &lt;offers&gt;</span>')
    expect(page.text).toContain('Always on')
    expect(page.text).not.toContain('security:email')
    expect((await host.notifier.preferences.get(ADA)).updatedAt).toBeNull()
    await host.notifier.preferences.change({ organization: true }, { categories: { news: false } })
    expect(on(await get(path()))).toEqual(['default:email'])
  })

  it('stores what was changed, and nothing else, and says so after a redirect', async () => {
    await start()
    const was = 'default:email news:email'
    const saved = await post(path(), { was, on: ['news:email', 'ads:email'] })
    expect([saved.status, saved.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\?t=[\w.%-]+&saved=all$/),
    ])
    expect(await stored(ADA)).toEqual({
      channels: {},
      categories: { default: { email: false }, ads: { email: true } },
    })
    const after = await get(`/preferences${saved.headers.location}`)
    expect(after.text).toContain('<p role="status">')
    expect(on(after)).toEqual(['news:email', 'ads:email'])
  })

  it('speaks for the person on all channels if the link knows who it is', async () => {
    await start()
    await post(path('user:42'), { was: 'news:email default:email', on: ['default:email'] })
    const off = { channels: {}, categories: { news: { email: false } } }
    expect(await stored(ADA)).toEqual(off)
    expect(await stored(PERSON)).toEqual(off)
    await post(path('user:42'), { was: 'default:email', on: ['default:email', 'news:email'] })
    expect(await stored(PERSON)).toEqual({ channels: {}, categories: { news: { email: true } } })
    expect(on(await get(path('user:42')))).toContain('news:email')
  })

  it('offers the channels on which the person has an address, or all while people cannot be looked up', async () => {
    const people = {
      'user:mail': { channels: { email: ADA.to, sms: null } },
      'user:both': { channels: { email: ADA.to, sms: '+15005550006' } },
      'user:wrong': { channels: 'ada' as never },
    }
    let lookUps = 0
    host = await startHost({
      secret,
      categories,
      publicUrl: 'https://api.example.org/n',
      moreChannels: { sms: recordingProvider(), push: recordingProvider() },
      recipients: {
        resolve(ids) {
          lookUps += 1
          if (ids.includes('user:away')) throw new Error('The database is away.')
          return people
        },
      },
    })
    const offered = async (who?: string) => {
      const { text } = await get(path(who))
      return [...text.matchAll(/name="on" value="news:([^"]+)"/g)].map(([, channel]) => channel)
    }
    expect(await offered()).toEqual(['email'])
    expect(await offered('user:mail')).toEqual(['email'])
    expect(await offered('user:both')).toEqual(['email', 'sms'])
    // The message of the link has arrived, whoever the person is now.
    expect(await offered('user:gone')).toEqual(['email'])
    for (const who of ['user:away', 'user:wrong'])
      expect(await offered(who)).toEqual(['email', 'sms', 'push'])
    const before = lookUps
    // The person had a number when the page was shown.
    const saved = await post(path('user:mail'), { was: 'news:email news:sms', on: ['news:email'] })
    expect([saved.status, lookUps]).toEqual([303, before])
    expect((await stored({ recipient: 'user:mail' })).categories).toEqual({ news: { sms: false } })
  })

  it('turns everything off but what is required', async () => {
    await start()
    await host.notifier.preferences.change(ADA, { categories: { news: { email: true } } })
    expect((await post(path('user:42'), { none: '1' })).status).toBe(303)
    expect(await stored(PERSON)).toEqual({ channels: { '*': false }, categories: {} })
    expect(on(await get(path('user:42')))).toEqual([])
    const ends = await Promise.all(
      ['news', 'security'].map(async (category) => {
        const { id } = await host.notifier.send({ ...ADA, body: 'Hi', category })
        return eventually(async () => {
          const { status } = await host.notifier.notifications.get(id)
          return status === 'queued' ? undefined : status
        })
      }),
    )
    expect(ends).toEqual(['skipped', 'sent'])
  })

  it('ignores cells that nobody can choose', async () => {
    await start()
    const foreign = ['security:email', 'news:sms', 'nope:email', '__proto__:email', 'news']
    expect((await post(path(), { was: foreign.join(' '), on: ['constructor:email'] })).status).toBe(303)
    expect((await stored(ADA)).categories).toEqual({})
  })

  it('lifts an unsubscription from everything only as far as was chosen', async () => {
    await start()
    const { id } = await host.notifier.send({ ...ADA, body: 'Hi' })
    await host.notifier.suppressions.add({ ...ADA, reason: 'unsubscribe' })
    const own = payload().replace('notif_1', id)
    const at = `/preferences?t=${signer.sign('preferences', own)}`
    expect(on(await get(at))).toEqual([])
    await post(at, { was: '', on: ['news:email'] })
    expect((await host.notifier.suppressions.list()).items).toEqual([])
    expect((await stored(ADA)).categories).toEqual({
      default: { email: false },
      news: { email: true },
      ads: { email: false },
    })
    await host.notifier.suppressions.add({ ...ADA, reason: 'hard_bounce' })
    await post(at, { was: 'news:email', on: ['news:email', 'ads:email'] })
    expect((await host.notifier.suppressions.list()).items).toMatchObject([{ reason: 'hard_bounce' }])
  })

  it('refuses every other token with a page that says so', async () => {
    await start()
    const [body = '', mac = ''] = signer.sign('preferences', payload()).split('.')
    const tokens = [
      '',
      'x',
      body,
      `${body}.${mac.slice(0, -1)}${mac.endsWith('A') ? 'Q' : 'A'}`,
      signer.sign('unsubscribe', payload()),
      signer.sign('click', payload()),
      signer.sign('sign-in', payload()),
      createLinkSigner(['the secret of somebody else, long enough']).sign('preferences', payload()),
    ]
    for (const token of tokens) {
      const at = `/preferences?t=${token}`
      for (const answer of [await get(at), await post(at, { none: '1' })])
        expect([answer.status, answer.text.includes('This link does not work')], token).toEqual([404, true])
    }
    expect((await host.notifier.preferences.get(ADA)).updatedAt).toBeNull()
  })

  it('offers to undo that everything is off, and restores each choice', async () => {
    await start()
    const at = path('user:42')
    await host.notifier.preferences.change(ADA, { categories: { news: { email: true } } })
    await host.notifier.preferences.change(PERSON, { channels: { sms: true }, categories: { ads: true } })
    const before = [await stored(ADA), await stored(PERSON)]
    const shown = on(await get(at))
    const undoIn = ({ text }: Answer) =>
      /name="undo" value="([^"]+)"/.exec(text)?.[1]?.replaceAll('&#61;', '=')
    const followed = async (answer: Answer) => {
      expect(answer.status).toBe(303)
      return get(`/preferences${answer.headers.location}`)
    }
    const done = await followed(await post(at, { none: '1' }))
    expect(on(done)).toEqual([])
    const undo = undoIn(done) ?? ''
    for (let times = 0; times < 2; times += 1) {
      const undone = await followed(await post(at, { undo }))
      expect(undone.text).toContain('<p role="status">Your settings are as they were before.</p>')
      expect(undoIn(undone)).toBeUndefined()
      expect(on(undone)).toEqual(shown)
      expect([await stored(ADA), await stored(PERSON)]).toEqual(before)
    }
    const again = undoIn(await followed(await post(at, { none: '1' }))) ?? ''
    await post(at, { was: '', on: 'news:email' })
    const kept = await followed(await post(at, { undo: again }))
    expect(kept.text).toContain('<p role="alert">Your settings have changed in the meantime.</p>')
    expect(on(kept)).toContain('news:email')
    for (const forged of ['', `${again}x`, 'x']) expect((await post(at, { undo: forged })).status).toBe(404)
    expect((await post(path(), { undo: again })).status).toBe(404)
    expect(undoIn(await followed(await post(at, { was: 'news:email' })))).toBeUndefined()
  })

  it('loads nothing, runs nothing, sets no cookie, and is framed, indexed and referred to by none', async () => {
    await start()
    const { headers, text } = await get(path())
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      ),
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    expect(headers['set-cookie']).toBeUndefined()
    expect(text).not.toMatch(/<script|https?:|src=| style=| on[a-z]+=/)
  })

  it('is in the language of the link or of the browser, from right to left where that is written so', async () => {
    await start({
      texts: {
        'pt-BR': { title: 'Suas notificações' },
        de: {
          save: 'Sichern',
          channels: { email: 'Elektropost' },
          categories: { news: { name: 'Neuigkeiten' } },
        },
      },
    })
    const cases: [string, Record<string, string>, RegExp][] = [
      [
        '',
        { 'accept-language': 'tlh, de-AT;q=0.9, en;q=0.8' },
        /lang="de" dir="ltr".*Ihre Benachrichtigungen.*Neuigkeiten.*Elektropost.*Sichern/,
      ],
      ['&lang=ar', { 'accept-language': 'de' }, /lang="ar" dir="rtl".*البريد/],
      ['&lang=fr-CA', {}, /lang="fr"/],
      ['', { 'accept-language': 'en;q=0, es' }, /lang="es"/],
      ['&lang=pt-BR', {}, /lang="pt-BR".*Suas notificações.*Save/],
      ['&lang=%22%3E', {}, /lang="en" dir="ltr"/],
      ['', { 'accept-language': `${'x,'.repeat(5_000)}de` }, /lang="en"/],
    ]
    for (const [query, headers, expected] of cases)
      expect(
        (await get(`${path()}${query}`, headers)).text,
        `${query} ${JSON.stringify(headers).slice(0, 80)}`,
      ).toMatch(expected)
  })

  it.each([
    ['', 'de'],
    ['&lang=es', 'es'],
    ['&lang=tlh', 'de'],
  ])(
    'is in the language of its message, whatever the browser asks: with %j in %s',
    async (query, language) => {
      await start()
      const headers = { 'accept-language': 'fr' }
      const at = `${path(undefined, 'de-AT')}${query}`
      expect((await get(at, headers)).text).toContain(`<html lang="${language}"`)
      const asking = at.replace('preferences', 'unsubscribe')
      const token = signer.sign('unsubscribe', payload('user:42', 'de-AT'))
      const { text } = await get(asking.replace(/t=[^&]+/, `t=${token}`), headers)
      expect(text).toContain(`<html lang="${language}"`)
      const [, href = ''] = /href="(preferences[^"]+)"/.exec(text) ?? []
      expect((await get(`/${href.replaceAll('&amp;', '&')}`, headers)).text).toContain(
        `<html lang="${language}"`,
      )
    },
  )

  it('speaks for the address if its link has a language and no recipient', async () => {
    await start()
    await post(path(undefined, 'de'), { none: '1' })
    expect(on(await get(path()))).toEqual([])
  })

  it('stays readable under maintenance, and then stores nothing', async () => {
    await start()
    host.notifier.maintenance(true)
    expect((await get(path())).status).toBe(200)
    expect((await post(path(), { none: '1' })).status).toBe(503)
  })
})

describe('links in templates', () => {
  const template = {
    name: 'news',
    channel: 'email',
    html: '<p>{{name}}</p><a href="{{preferencesUrl}}">Settings</a>{{#items}}<a href="{{unsubscribeUrl}}">x</a>{{/items}}',
    text: '{{name}}: {{{preferencesUrl}}}',
  } as const
  const message = { to: ADA.to, template: 'news', category: 'news' } as const

  it('lead to the pages of their recipient, are no variables, and are not tracked', async () => {
    await start()
    await host.notifier.organizations.update('org_default', { tracking: { opens: true, clicks: true } })
    await host.notifier.templates.create(template)
    const items = [{ unsubscribeUrl: 'https://evil.example/' }]
    await host.notifier.send({ ...message, variables: { name: 'Ada', items } })
    const sent = await eventually(async () => host.sent[0])
    const body = sent.body.replaceAll('&#61;', '=')
    const [link = ''] = /https:\/\/api\.example\.org\/n\/preferences\?t=[\w.-]+/.exec(body) ?? []
    expect(body).toMatch(/href="https:\/\/api\.example\.org\/n\/unsubscribe\?t=/)
    expect(body).not.toContain('evil')
    expect(sent.text).toContain(link)
    const page = await get(link.slice('https://api.example.org/n'.length))
    expect([page.status, on(page)]).toEqual([200, ['default:email', 'news:email']])
    const { placeholders, body: shown } = await host.notifier.templates.preview('news', { name: 'Ada' })
    expect(placeholders.map(({ name }) => name)).toEqual(['name', 'items'])
    expect(shown).toContain('https://example.com/preferences')
  })

  it('cannot be given as variables, and are not shown to those who read the message', async () => {
    await start()
    await host.notifier.templates.create(template)
    await expect(
      host.notifier.send({ ...message, variables: { name: 'Ada', preferencesUrl: 'https://evil.example/' } }),
    ).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { field: 'variables.preferencesUrl' },
    })
    const { id } = await host.notifier.send({ ...message, variables: { name: 'Ada' } })
    const { rendered } = await host.notifier.notifications.get(id, { rendered: true })
    expect(rendered?.body).toContain('https://example.com/preferences')
    expect(rendered?.body).not.toContain('?t=')
  })

  it('need the address of the service', async () => {
    host = await startHost({ secret })
    await host.notifier.templates.create(template)
    await expect(
      host.notifier.send({ to: ADA.to, template: 'news', variables: { name: 'A' } }),
    ).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { option: 'publicUrl' },
    })
  })
})
