import { afterEach, describe, expect, it } from 'vitest'
import type { SendInput } from '../../../src/core/accept/input.ts'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import { eventually } from '../../support/eventually.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { type MailingHost, startMailingHost } from '../../support/mailing-host.ts'
import { emailHash } from '../../support/person-hashes.ts'

const ADA = { channel: 'email', to: 'ada@example.com' } as const
const secret = 'the secret of this service, long enough'
const categories = {
  news: { name: 'News', listId: 'news.example.org', from: 'News <news@example.org>' },
  security: { name: 'Security', required: true, listId: 'security.example.org' },
}

const recipients = { resolve: async () => ({ 'user:42': { channels: { email: ADA.to } } }) }

let host: MailingHost
afterEach(() => host.close())

async function start(publicUrl: string | undefined = 'https://api.example.org'): Promise<void> {
  host = await startMailingHost({ secret, categories, publicUrl, recipients })
}

async function mailed(message: Partial<SendInput> = {}): Promise<ReceivedMail> {
  const { id } = await host.notifier.send({ ...ADA, body: 'Hi', ...message } as SendInput)
  await eventually(async () => (await host.notifier.notifications.get(id)).status === 'sent')
  return host.inbox.at(-1) as ReceivedMail
}

function headerOf({ source }: ReceivedMail, name: string): string | null {
  const unfolded = source.replaceAll(/\r\n[ \t]+/g, ' ')
  return new RegExp(`^${name}: (.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? null
}

function tokenOf(mail: ReceivedMail): string {
  return new URL(headerOf(mail, 'List-Unsubscribe')?.slice(1, -1) ?? '').searchParams.get('t') ?? ''
}

const post = (token: string) =>
  host.call({
    method: 'POST',
    path: `/unsubscribe?t=${token}`,
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

const preferences = async () => (await host.notifier.preferences.get(ADA)).categories

describe('mail of a category', () => {
  it('has List-Unsubscribe, List-Id and the sender of the category', async () => {
    await start()
    const mail = await mailed({ category: 'news' })
    expect(headerOf(mail, 'List-Unsubscribe')).toMatch(
      /^<https:\/\/api\.example\.org\/unsubscribe\?t=[\w.-]+>$/,
    )
    expect(headerOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    expect(headerOf(mail, 'List-Id')).toBe('<news.example.org>')
    expect(headerOf(mail, 'From')).toMatch(/News.*<news@example\.org>/)
  })

  it('has none of it by itself if it has none to have', async () => {
    await start()
    const plain = await mailed()
    for (const name of ['List-Unsubscribe', 'List-Id']) expect(headerOf(plain, name)).toBeNull()
    const copied = await mailed({ category: 'news', email: { cc: 'bob@example.com' } })
    expect(headerOf(copied, 'List-Unsubscribe')).toBeNull()
    const without = await mailed({ category: 'news', email: { unsubscribe: false } })
    expect(headerOf(without, 'List-Unsubscribe')).toBeNull()
    const own = await mailed({ category: 'news', email: { headers: { 'list-id': '<own.example.org>' } } })
    expect(headerOf(own, 'List-Id')).toBe('<own.example.org>')
  })

  it('that is required has no List-Unsubscribe, and none can be asked for', async () => {
    await start()
    const mail = await mailed({ category: 'security' })
    expect([headerOf(mail, 'List-Unsubscribe'), headerOf(mail, 'List-Id')]).toEqual([
      null,
      '<security.example.org>',
    ])
    const asked = { ...ADA, body: 'Hi', category: 'security', email: { unsubscribe: true } } as const
    await expect(host.notifier.send(asked)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'email.unsubscribe', category: 'security' },
    })
  })

  it('has no link where the service has no https address', async () => {
    await start('http://localhost')
    expect(headerOf(await mailed({ category: 'news' }), 'List-Unsubscribe')).toBeNull()
  })
})

describe('one click', () => {
  it('ends this category only', async () => {
    await start()
    expect((await post(tokenOf(await mailed({ category: 'news' })))).status).toBe(200)
    expect(await preferences()).toEqual({ news: { email: false } })
    await mailed()
    await mailed({ category: 'security' })
    const { id } = await host.notifier.send({ ...ADA, body: 'Hi', category: 'news' })
    await eventually(async () => (await host.notifier.notifications.get(id)).status === 'skipped')
  })

  it('works when the notification is gone, and contains no address', async () => {
    await start()
    const payload = [
      'org_default',
      'email',
      await emailHash(host.storage, ADA.to),
      'news',
      'notif_1',
      'user:42',
    ]
    const token = createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(payload))
    expect((await post(token)).status).toBe(200)
    expect(await preferences()).toEqual({ news: { email: false } })
    const person = await host.notifier.preferences.get({ recipient: 'user:42' })
    expect(person.categories).toEqual({ news: { email: false } })
    const issued = Buffer.from(
      tokenOf(await mailed({ ...ADA, to: 'eve@example.com', category: 'news' })),
      'base64url',
    )
    expect(issued.toString()).not.toContain('eve')
  })

  it('of a category that nobody knows any more ends everything but what is required', async () => {
    await start()
    await host.notifier.preferences.change(ADA, { categories: { news: { email: true } } })
    const payload = ['org_default', 'email', await emailHash(host.storage, ADA.to), 'gone', 'notif_1']
    expect((await post(createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(payload)))).status).toBe(
      200,
    )
    for (const category of ['news', undefined]) {
      const { id } = await host.notifier.send({ ...ADA, body: 'Hi', ...(category && { category }) })
      await eventually(async () => (await host.notifier.notifications.get(id)).status === 'skipped')
    }
    await mailed({ category: 'security' })
  })

  it('of a category that was deleted leaves the other channels of the person on', async () => {
    await start()
    const { notifier } = host
    const person = { recipient: 'user:42' }
    await notifier.categories.create({ id: 'offers', name: 'Offers' })
    await notifier.preferences.change(person, { categories: { news: { email: true, sms: true } } })
    const { id } = await notifier.send({ channel: 'email', ...person, body: 'Hi', category: 'offers' })
    await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
    const token = tokenOf(host.inbox.at(-1) as ReceivedMail)
    await notifier.categories.delete('offers')
    expect((await post(token)).status).toBe(200)
    for (const who of [person, ADA])
      expect((await notifier.preferences.get(who)).channels).toEqual({ email: false })
    expect((await notifier.preferences.get(person)).categories).toEqual({ news: { email: false, sms: true } })
  })

  it('of a required category changes nothing, and says so with a link to the settings', async () => {
    await start()
    const payload = ['org_default', 'email', await emailHash(host.storage, ADA.to), 'security', 'notif_1']
    const token = createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(payload))
    const asked = await host.call({ path: `/unsubscribe?t=${token}` })
    const posted = await post(token)
    const incomplete = await host.call({ method: 'POST', path: `/unsubscribe?t=${token}` })
    expect([asked.status, posted.status, incomplete.status]).toEqual([200, 409, 409])
    for (const { text } of [asked, posted, incomplete]) {
      expect(text).toContain('These messages are necessary')
      expect(text).toContain('href="preferences?t=')
      expect(text).not.toContain('<form')
    }
    const german = await host.call({ path: `/unsubscribe?t=${token}&lang=de` })
    expect(german.text).toContain('Diese Nachrichten sind notwendig')
    expect((await host.notifier.preferences.get(ADA)).updatedAt).toBeNull()
    await mailed({ category: 'security' })
  })

  it('of an organization that is gone says so, like its preference page', async () => {
    await start()
    const { sign } = createLinkSigner([secret])
    const target = JSON.stringify(['org_x', 'email', 'h', 'news', 'n'])
    const token = sign('unsubscribe', target)
    expect((await post(token)).status).toBe(404)
    const paths = [`/unsubscribe?t=${token}`, `/preferences?t=${sign('preferences', target)}`]
    for (const path of paths) expect((await host.call({ path })).status).toBe(404)
  })
})

describe('undo after one click', () => {
  const person = { recipient: 'user:42' } as const
  const known = {
    ...person,
    to: undefined,
    category: 'news',
    email: { unsubscribe: true },
  } as unknown as Partial<SendInput>
  const stored = async () =>
    Promise.all(
      [ADA, person].map(async (who) => {
        const { channels, categories: cells, quietHours } = await host.notifier.preferences.get(who)
        return { channels, cells, quietHours }
      }),
    )
  const undoIn = (text: string) => /name="undo" value="([^"]+)"/.exec(text)?.[1]?.replaceAll('&#61;', '=')
  const undo = (token: string, value = '') =>
    host.call({
      method: 'POST',
      path: `/unsubscribe?t=${token}`,
      body: new URLSearchParams({ undo: value }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })

  it('says which messages it is about, and from whom', async () => {
    await start()
    await host.notifier.organizations.update('org_default', { branding: { name: 'Acme & Sons' } })
    const token = tokenOf(await mailed(known))
    const asked = await host.call({ path: `/unsubscribe?t=${token}` })
    const done = await post(token)
    for (const { text } of [asked, done]) {
      expect(text).toContain('<strong>News</strong><span><bdi>Acme &amp; Sons</bdi></span>')
    }
    expect(undoIn(asked.text)).toBeUndefined()
    expect(undoIn(done.text)).toBeDefined()
  })

  it('restores exactly what was there, in both records of the person, and again does no harm', async () => {
    await start()
    const token = tokenOf(await mailed(known))
    await host.notifier.preferences.change(ADA, {
      categories: { news: { email: true } },
      channels: { email: true },
    })
    await host.notifier.preferences.change(person, { categories: { news: { sms: true, '*': true } } })
    const before = await stored()
    const { text } = await post(token)
    expect(await stored()).not.toEqual(before)
    for (let times = 0; times < 2; times += 1) {
      const answer = await undo(token, undoIn(text))
      expect([answer.status, answer.text.includes('as they were before')]).toEqual([200, true])
      expect(await stored()).toEqual(before)
    }
    const { id } = await host.notifier.send({ ...ADA, body: 'Hi', category: 'news' })
    await eventually(async () => (await host.notifier.notifications.get(id)).status === 'sent')
  })

  it('leaves no choice where there was none, and is not offered for what was off before', async () => {
    await start()
    const token = tokenOf(await mailed(known))
    const first = await post(token)
    const second = await post(token)
    expect(undoIn(second.text)).toBeUndefined()
    expect(second.text).toContain('You are unsubscribed')
    // The second click has chosen the same again, later.
    expect((await undo(token, undoIn(first.text))).text).toContain('changed in the meantime')
    for (const who of [ADA, person]) await host.notifier.preferences.replace(who, {})
    const { text } = await post(token)
    await undo(token, undoIn(text))
    expect(await stored()).toMatchObject([{ cells: {} }, { cells: {} }])
  })

  it('keeps what the person has chosen since', async () => {
    await start()
    const token = tokenOf(await mailed(known))
    const { text } = await post(token)
    await host.notifier.preferences.change(ADA, { categories: { news: { email: false } } })
    const answer = await undo(token, undoIn(text))
    expect([answer.status, answer.text.includes('changed in the meantime')]).toEqual([200, true])
    expect(await preferences()).toEqual({ news: { email: false } })
  })

  it('takes no token that is not of this link', async () => {
    await start()
    const token = tokenOf(await mailed(known))
    const other = tokenOf(await mailed({ category: 'news' }))
    const value = undoIn((await post(token)).text) ?? ''
    const [body = ''] = value.split('.')
    for (const [link, forged] of [
      [other, value],
      [token, ''],
      [token, `${body}.${'A'.repeat(22)}`],
      [token, token],
      ['x', value],
    ] as const)
      expect((await undo(link, forged)).status, forged).toBe(404)
    expect(await preferences()).toEqual({ news: { email: false } })
  })
})
