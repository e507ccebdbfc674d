import { afterEach, describe, expect, it } from 'vitest'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import type { NotificationEvent } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type MailingHost, startMailingHost } from '../../support/mailing-host.ts'
import type { HostOptions } from '../../support/rest-host.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ONE_CLICK = 'List-Unsubscribe=One-Click'
const secret = 'the secret of this service, long enough'

let host: MailingHost
afterEach(() => host.close())

async function start(options: HostOptions = {}): Promise<void> {
  host = await startMailingHost({ secret, publicUrl: 'https://api.example.org/n', ...options })
}

/** Sends a mail that can be unsubscribed from; gives its id and the path of the link in it. */
async function mailed(to = 'Ada@example.com'): Promise<{ id: string; path: string }> {
  const { id } = await host.notifier.send({ channel: 'email', to, body: 'Hi', email: { unsubscribe: true } })
  await eventually(async () => (await host.notifier.notifications.get(id)).status === 'sent')
  const list = host.inbox.at(-1)?.parsed.headers.get('list') as unknown as { unsubscribe: { url: string } }
  return { id, path: list.unsubscribe.url.slice('https://api.example.org/n'.length) }
}

/** The content of a token, which anyone can read. */
function payloadOf(token: string): string {
  return Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()
}

function visit(path: string, more: Partial<Call> = {}): Promise<Answer> {
  return host.call({ path, ...more })
}

const post = (path: string, body: unknown = ONE_CLICK, headers: object = FORM): Promise<Answer> =>
  visit(path, { method: 'POST', body, headers: { ...headers } })

/** What the address has turned off. */
async function turnedOff(to = 'ada@example.com'): Promise<unknown> {
  return (await host.notifier.preferences.get({ channel: 'email', to })).categories
}

const DEFAULT_OFF = { default: { email: false } }

describe('one-click unsubscription', () => {
  it('turns the category off for the address and tells of it, once, with the post of a mail provider', async () => {
    await start()
    const { id, path } = await mailed()
    const told: NotificationEvent[] = []
    host.notifier.on('notification.unsubscribed', (event) => told.push(event))
    for (let times = 0; times < 2; times += 1) {
      const answer = await post(path)
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.text).toContain('You are unsubscribed')
    }
    expect(await turnedOff()).toEqual(DEFAULT_OFF)
    expect((await host.notifier.suppressions.list()).items).toEqual([])
    expect(told.map(({ data }) => data.id)).toEqual([id])
    const { timeline, status } = await host.notifier.notifications.get(id)
    expect([status, timeline.map(({ event }) => event)]).toEqual(['sent', ['queued', 'sent', 'unsubscribed']])
    const answer = await host.call({
      method: 'POST',
      path: '/v1/notifications',
      headers: await host.key(),
      body: { channel: 'email', to: 'ada@example.com', body: 'Hi' },
    })
    expect([answer.status, answer.json?.status]).toEqual([201, 'queued'])
    const skipped = String(answer.json?.id)
    await eventually(async () => (await host.notifier.notifications.get(skipped)).status === 'skipped')
    expect(host.inbox).toHaveLength(1)
  })

  it('is a form of RFC 7578 as well', async () => {
    await start()
    const { path } = await mailed()
    const body =
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    expect((await post(path, body, { 'content-type': 'multipart/form-data; boundary=x' })).status).toBe(200)
    expect(await turnedOff()).toEqual(DEFAULT_OFF)
  })

  it('is asked for, but not lost, under maintenance: whoever posts is told to come again', async () => {
    await start()
    const { path } = await mailed()
    host.notifier.maintenance(true)
    expect((await visit(path)).text).toContain('<button>')
    const answer = await post(path)
    expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    host.notifier.maintenance(false)
    expect(await turnedOff()).toEqual({})
    expect((await post(path)).status).toBe(200)
    expect(await turnedOff()).toEqual(DEFAULT_OFF)
  })

  it('never happens by looking: a page asks, without script, and is framed by nobody', async () => {
    await start()
    const { path } = await mailed()
    for (const method of ['GET', 'HEAD']) {
      const answer = await visit(path, { method })
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        'referrer-policy': 'no-referrer',
      })
    }
    const { text } = await visit(path)
    expect(text).toMatch(/<form method="post">.*<button>/)
    expect(text).not.toMatch(/<script|https?:|src=/)
    // The button sends the form's own field.
    const [, name = '', value = ''] = /name="([^"]+)" value="([^"]+)"/.exec(text) ?? []
    expect(`${name}=${value}`).toBe(ONE_CLICK)
    expect(await turnedOff()).toEqual({})
    for (const body of ['', 'x=1', 'List-Unsubscribe=', '{}']) {
      expect((await post(path, body)).status, body).toBe(400)
    }
    expect(await turnedOff()).toEqual({})
  })

  it('reads no more of a body than one click can need', async () => {
    await start()
    const { path } = await mailed()
    const answer = await post(path, `${ONE_CLICK}&x=${'x'.repeat(5_000)}`)
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large'])
    expect(await turnedOff()).toEqual({})
    expect((await post(path, `${ONE_CLICK}&x=${'x'.repeat(3_000)}`)).status).toBe(200)
  })

  it('has a page for what is wrong in the form, and an error for what is wrong around it', async () => {
    await start()
    const { path } = await mailed()
    const incomplete = await post(path, 'a=b')
    expect([incomplete.status, incomplete.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    const twice = await post(`${path}&t=x`)
    expect([twice.status, codeOf(twice)]).toEqual([400, 'invalid_parameter'])
  })

  it('believes no link that was not made for it', async () => {
    await start()
    const { path } = await mailed()
    const other = await mailed('bob@example.com')
    const token = new URL(path, 'http://x').searchParams.get('t') ?? ''
    const [body = '', mac = ''] = token.split('.')
    const [otherBody = ''] = (new URL(other.path, 'http://x').searchParams.get('t') ?? '').split('.')
    const stranger = createLinkSigner(['the secret of somebody else, long enough'])
    const forged = [
      '',
      'x',
      body,
      `${body}.`,
      `${otherBody}.${mac}`,
      `${body}.${mac.slice(0, -1)}${mac.endsWith('A') ? 'Q' : 'A'}`,
      `${body}.${'A'.repeat(22)}`,
      `${token}x`,
      stranger.sign('unsubscribe', payloadOf(token)),
      createLinkSigner([secret]).sign('open', payloadOf(token)),
      createLinkSigner([secret]).sign('preferences', payloadOf(token)),
      'x'.repeat(9_000),
    ]
    for (const each of forged) {
      const at = `/unsubscribe?t=${each}`
      const answers = [...(each.length > 8_000 ? [] : [await post(at)]), await visit(`${at}&a=b`)]
      for (const { status, text } of answers) expect([status, text], each).toEqual([404, answers[0]?.text])
    }
    expect((await visit('/unsubscribe')).status).toBe(404)
    expect(await turnedOff()).toEqual({})
  })

  it('means what it says also when it is the second time', async () => {
    await start()
    const { path } = await mailed()
    await post(path)
    await host.notifier.preferences.replace({ channel: 'email', to: 'ada@example.com' }, {})
    expect(await turnedOff()).toEqual({})
    expect((await post(path)).status).toBe(200)
    expect(await turnedOff()).toEqual(DEFAULT_OFF)
  })

  it('outlives a rotation of the secret', async () => {
    await start({ secret: ['a new secret of this service, long enough', secret] })
    const { path } = await mailed()
    const token = new URL(path, 'http://x').searchParams.get('t') ?? ''
    const old = createLinkSigner([secret]).sign('unsubscribe', payloadOf(token))
    expect((await post(`/unsubscribe?t=${old}`)).status).toBe(200)
    expect(await turnedOff()).toEqual(DEFAULT_OFF)
  })

  it('has a limit of its own, wide enough for a mail provider', async () => {
    await start()
    const { path } = await mailed()
    for (let times = 0; times < 70; times += 1) {
      const { status, headers } = await visit(path)
      expect([status, headers['x-ratelimit-resource'], headers['x-ratelimit-limit']]).toEqual([
        200,
        'links',
        '6000',
      ])
    }
  })
})
