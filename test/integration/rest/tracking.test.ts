import { afterEach, describe, expect, it } from 'vitest'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import type { NotificationEvent, Storage } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import type { Answer } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { type MailingHost, startMailingHost } from '../../support/mailing-host.ts'
import type { HostOptions } from '../../support/rest-host.ts'

const ORIGIN = 'https://api.example.org'
const TARGET = 'https://shop.example/a?b=1&c=2'
const BODY = `<html><body><p>Hi <a href="https://shop.example/a?b=1&amp;c=2">shop</a>
  <a href="mailto:help@example.org">help</a></p></body></html>`
const secret = 'the secret of this service, long enough'

let host: MailingHost
afterEach(() => host.close())

async function start(tracking: object | null, options: HostOptions = {}): Promise<void> {
  host = await startMailingHost({ secret, publicUrl: ORIGIN, ...options })
  if (tracking !== null) await host.notifier.organizations.update('org_default', { tracking })
}

interface Mailed {
  readonly id: string
  readonly html: string
  readonly text: string
  readonly pixel: string
  readonly link: string
}

async function mailed(
  said: { readonly body: string } | { readonly html: string; readonly text: string } = { body: BODY },
): Promise<Mailed> {
  const { id } = await host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', ...said })
  await eventually(async () => (await host.notifier.notifications.get(id)).status === 'sent')
  const { parsed } = host.inbox.at(-1) ?? {}
  const html = parsed?.html || ''
  const below = (pattern: RegExp): string => pattern.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return {
    id,
    html,
    text: parsed?.text ?? '',
    pixel: below(/<img src="https:\/\/api\.example\.org(\/open\?t=[\w.-]+)"/),
    link: below(/href="https:\/\/api\.example\.org(\/click\?t=[\w.-]+)"/),
  }
}

const visit = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  host.call({ path, method, headers: { 'user-agent': 'Mozilla/5.0 (X11) Mail/1', ...headers } })

const statusOf = async (id: string) => (await host.notifier.notifications.get(id)).status
const eventsOf = async (id: string) =>
  (await host.notifier.notifications.get(id)).timeline.map(({ event }) => event)

describe('what is counted of a mail', () => {
  it('is refused where no address is known that it could lead to', async () => {
    await start(null, { publicUrl: undefined })
    const { organizations } = host.notifier
    const refused = { code: 'invalid_parameter', message: expect.stringContaining('"publicUrl"') }
    await expect(organizations.update('org_default', { tracking: { opens: true } })).rejects.toMatchObject(
      refused,
    )
    await expect(organizations.create({ name: 'Acme', tracking: { clicks: true } })).rejects.toMatchObject(
      refused,
    )
    await expect(organizations.update('org_default', { tracking: null })).resolves.toMatchObject({
      tracking: { opens: false, clicks: false },
    })
  })

  it('is nothing unless the organization says so', async () => {
    await start(null)
    const { html } = await mailed()
    expect(html).not.toContain(ORIGIN)
    expect(html).toContain('href="https://shop.example/a?b=1&amp;c=2"')
  })

  it('is opening and clicks in the HTML, and the text stays as it is', async () => {
    await start({ opens: true, clicks: true })
    const { html, text, pixel, link } = await mailed()
    expect([pixel, link]).toEqual([expect.stringContaining('/open'), expect.stringContaining('/click')])
    expect(html).toContain('href="mailto:help@example.org"')
    expect(text).toContain('shop.example/a')
    expect(text).not.toContain(ORIGIN)
    for (const path of [pixel, link]) {
      const [token = ''] = (new URL(path, ORIGIN).searchParams.get('t') ?? '').split('.')
      expect(Buffer.from(token, 'base64url').toString()).not.toContain('ada@')
    }
  })

  it('leaves the text beside HTML as it was given', async () => {
    await start({ opens: true, clicks: true })
    const { html, text, pixel, link } = await mailed({ html: BODY, text: 'See https://shop.example/a' })
    expect([pixel, link]).toEqual([expect.stringContaining('/open'), expect.stringContaining('/click')])
    expect(html).not.toContain('href="https://shop.example')
    expect(text.trim()).toBe('See https://shop.example/a')
  })

  it.each([
    ['opens', [true, false]],
    ['clicks', [false, true]],
  ])('is %s alone where that is asked for', async (name, expected) => {
    await start({ [name]: true })
    const { pixel, link } = await mailed()
    expect([pixel !== '', link !== '']).toEqual(expected)
  })

  it('leaves mails in plain text alone', async () => {
    await start({ opens: true, clicks: true })
    await mailed({ body: 'See https://shop.example/a' })
    expect(host.inbox[0]?.parsed.text?.trim()).toBe('See https://shop.example/a')
  })

  it('raises the status, each once', async () => {
    await start({ opens: true, clicks: true })
    const { id, pixel, link } = await mailed()
    const told: NotificationEvent[] = []
    host.notifier.on('notification.opened', (event) => told.push(event))
    host.notifier.on('notification.clicked', (event) => told.push(event))
    host.clock.advance(60_000)
    const picture = await visit(pixel)
    expect(picture.status).toBe(200)
    expect(picture.headers).toMatchObject({
      'content-type': 'image/gif',
      'content-length': '43',
      'cache-control': 'no-store',
    })
    await eventually(async () => (await statusOf(id)) === 'opened')
    const clicked = await visit(link)
    expect([clicked.status, clicked.headers.location]).toEqual([302, TARGET])
    await eventually(async () => (await statusOf(id)) === 'clicked')
    for (let times = 0; times < 3; times += 1) await Promise.all([visit(pixel), visit(link)])
    const last = await mailed()
    await visit(last.pixel, { 'user-agent': 'Mozilla/5.0' })
    await eventually(async () => (await eventsOf(last.id)).includes('opened'))
    expect(await eventsOf(id)).toEqual(['queued', 'sent', 'opened', 'clicked'])
    expect(told.map(({ event, data }) => [event, data.id])).toEqual([
      ['notification.opened', id],
      ['notification.clicked', id],
    ])
  })

  it.each([
    ['Apple', 'Mozilla/5.0', 60_000],
    ['Google', 'Mozilla/5.0 (Windows NT 5.1) Firefox/11.0 (via ggpht.com GoogleImageProxy)', 60_000],
    ['a scanner', 'Mozilla/5.0 (X11) Mail/1', 0],
  ])('notes a machine, and a person after it: %s', async (_name, userAgent, waitMs) => {
    await start({ opens: true })
    const { id, pixel } = await mailed()
    host.clock.advance(waitMs)
    await visit(pixel, { 'user-agent': userAgent })
    await eventually(async () => (await eventsOf(id)).includes('opened'))
    expect(await statusOf(id)).toBe('sent')
    host.clock.advance(60_000)
    await visit(pixel)
    await eventually(async () => (await statusOf(id)) === 'opened')
    const opens = (entries: readonly { event: string; machine: boolean }[]) =>
      entries.filter(({ event }) => event === 'opened').map(({ machine }) => machine)
    expect(opens((await host.notifier.notifications.get(id)).timeline)).toEqual([true, false])
    const { items } = await host.notifier.logs.list({ notificationId: id })
    expect(opens(items.toReversed())).toEqual([true, false])
  })

  it('is not what is fetched ahead, or only looked at', async () => {
    await start({ opens: true, clicks: true })
    const { id, pixel, link } = await mailed()
    host.clock.advance(60_000)
    for (const path of [pixel, link]) {
      const expected = path === link ? 302 : 200
      expect((await visit(path, {}, 'HEAD')).status).toBe(expected)
      expect((await visit(path, { purpose: 'prefetch' })).status).toBe(expected)
      expect((await visit(path, { 'sec-purpose': 'prefetch;prerender' })).status).toBe(expected)
    }
    await visit(link)
    await eventually(async () => (await statusOf(id)) === 'clicked')
    expect(await eventsOf(id)).toEqual(['queued', 'sent', 'clicked'])
  })

  it('leads nowhere that was not signed here', async () => {
    await start({ opens: true, clicks: true })
    const { id, pixel, link } = await mailed()
    const ours = createLinkSigner([secret])
    const forged = [
      createLinkSigner(['the secret of somebody else, long enough']).sign(
        'click',
        `${id}\nhttps://evil.example/`,
      ),
      ours.sign('open', `${id}\nhttps://evil.example/`),
      ours.sign('click', `${id}\njavascript:alert(1)`),
      ours.sign('click', id),
      `${link.slice('/click?t='.length)}x`,
      pixel.slice('/open?t='.length),
      '',
      'https://evil.example/',
    ]
    for (const token of forged) {
      const answer = await visit(`/click?t=${encodeURIComponent(token)}`)
      expect([answer.status, answer.headers.location], token).toEqual([404, undefined])
    }
    expect((await visit('/open?t=x.y')).status).toBe(404)
  })

  it('leads on, and shows its picture, under maintenance, and counts nothing then', async () => {
    await start({ opens: true, clicks: true })
    const { id, pixel, link } = await mailed()
    host.clock.advance(60_000)
    host.notifier.maintenance(true)
    const clicked = await visit(link)
    expect([clicked.status, clicked.headers.location]).toEqual([302, TARGET])
    expect((await visit(pixel)).headers['content-type']).toBe('image/gif')
    expect((await visit('/click?t=forged')).status).toBe(404)
    host.notifier.maintenance(false)
    expect(await eventsOf(id)).toEqual(['queued', 'sent'])
    await visit(link)
    await eventually(async () => (await statusOf(id)) === 'clicked')
    expect(await eventsOf(id)).toEqual(['queued', 'sent', 'clicked'])
  })

  it('leads on, and shows its picture, while the storage is away', async () => {
    const storage = inMemory()
    let away = false
    const failing: Storage = {
      ...storage,
      recordReceipts: (receipts) =>
        away ? Promise.reject(new Error('The storage is away.')) : storage.recordReceipts(receipts),
    }
    await start({ opens: true, clicks: true }, { storage: failing })
    const { id, pixel, link } = await mailed()
    const errors: Error[] = []
    host.notifier.on('error', (error) => errors.push(error))
    away = true
    expect((await visit(link)).headers.location).toBe(TARGET)
    expect((await visit(pixel)).status).toBe(200)
    await eventually(() => errors.length === 2)
    expect(errors.map(({ message }) => message)).toEqual(Array(2).fill('The storage is away.'))
    expect(await statusOf(id)).toBe('sent')
  })
})
