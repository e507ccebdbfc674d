import { createHmac, timingSafeEqual } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import {
  ERRORS,
  type NotificationEvent,
  type Notifier,
  type PreferencesOf,
  type Provider,
} from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const SECRET = 'the key that this provider signs with'
const signatureOf = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex')
const mail = { channel: 'email', to: 'Ada@Example.com', body: 'Hi' } as const
let host: Host
afterEach(() => host.close())

/** A provider that signs its address and its bytes, and reports a list of receipts. */
function reporting(seen: ReceiptRequest[] = []): Provider {
  return {
    name: 'reporter',
    send: async (_message, { notificationId }) => ({
      kind: 'accepted',
      providerMessageId: `m-${notificationId}`,
    }),
    async parseReceipts(request): Promise<ParsedReceipts> {
      seen.push(request)
      const text = new TextDecoder().decode(request.body)
      if (text === 'malformed') return { kind: 'refused', why: 'malformed', message: 'Nothing can be read.' }
      if (text === 'throw') throw new Error(`no words about ${SECRET}`)
      const given = Buffer.from(request.headers['x-signature'] ?? '')
      const right = Buffer.from(signatureOf(request.url + text))
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        return { kind: 'refused', why: 'signature', message: 'The signature is not that of these bytes.' }
      }
      const receipts = JSON.parse(text) as readonly Receipt[]
      return { kind: 'receipts', receipts, answer: { contentType: 'text/xml', body: '<ok/>' } }
    },
  }
}

describe('receipts over REST', () => {
  async function start(options: HostOptions = {}): Promise<{ notifier: Notifier; seen: ReceiptRequest[] }> {
    const seen: ReceiptRequest[] = []
    const clock = fakeClock()
    host = await startHost({ clock, storage: inMemory(clock), channel: reporting(seen), ...options })
    return { notifier: host.notifier, seen }
  }

  function report(
    receipts: readonly unknown[] | string,
    { path = '/receipts/email/reporter', signature }: { path?: string; signature?: string } = {},
  ): Promise<Answer> {
    const body = typeof receipts === 'string' ? receipts : JSON.stringify(receipts)
    const url = `https://127.0.0.1${path}`
    return host.call({
      method: 'POST',
      path,
      headers: { 'x-signature': signature ?? signatureOf(url + body), 'content-type': 'application/json' },
      body,
    })
  }

  async function sentOne(notifier: Notifier): Promise<string> {
    const { id } = await notifier.send(mail)
    await expect.poll(async () => (await notifier.notifications.get(id)).status).toBe('sent')
    return id
  }

  it('are stored before they are answered, once, and announced', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const events: string[] = []
    notifier.on('notification.delivered', ({ data }) => events.push(data.id))
    const receipt = { dedupeKey: 'r1', fact: { type: 'delivered', providerMessageId: `m-${id}` } }
    const answer = await report([receipt])
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'text/xml', '<ok/>'])
    expect(await notifier.notifications.get(id)).toMatchObject({ status: 'delivered' })
    expect((await report([receipt, receipt])).status).toBe(200)
    const { timeline } = await notifier.notifications.get(id)
    expect(timeline.filter(({ event }) => event === 'delivered')).toHaveLength(1)
    expect(events).toEqual([id])
  })

  it('are correlated by our own id, and kept while they come before our own record', async () => {
    const { notifier } = await start()
    const { id } = await notifier.send({ ...mail, sendAt: new Date(host.clock.now() + 60_000) })
    expect(
      (await report([{ dedupeKey: 'early', fact: { type: 'opened', providerMessageId: `m-${id}` } }])).status,
    ).toBe(200)
    expect((await notifier.notifications.get(id)).status).toBe('scheduled')
    await host.clock.advance(61_000)
    await expect.poll(async () => (await notifier.notifications.get(id)).status).toBe('opened')
    await report([{ dedupeKey: 'own', notificationId: id, fact: { type: 'clicked' } }])
    expect((await notifier.notifications.get(id)).status).toBe('clicked')
  })

  it('turn off the category of a message whose list was left', async () => {
    const { notifier } = await start({ categories: { news: { name: 'News' } } })
    const { id } = await notifier.send({ ...mail, category: 'news' })
    const left = {
      dedupeKey: 'left',
      notificationId: id,
      fact: { type: 'unsubscribed', providerMessageId: `m-${id}` },
      suppress: { reason: 'unsubscribe', scope: 'category' },
    }
    for (let times = 0; times < 2; times += 1) expect((await report([left])).status).toBe(200)
    const { channel, to } = mail
    expect((await notifier.preferences.get({ channel, to })).categories).toEqual({ news: { email: false } })
    expect((await notifier.suppressions.list()).items).toEqual([])
    await expect(notifier.send(mail)).resolves.toMatchObject({ status: 'queued' })
  })

  it('about a copy turn the category off for the copied address only, in any order and spelling', async () => {
    const { channel, to } = mail
    const { notifier } = await start({
      categories: { news: { name: 'News' } },
      recipients: { resolve: async () => ({ 'user:42': { channels: { email: to } } }) },
    })
    const person = { recipient: 'user:42' }
    const cc = Array.from({ length: 8 }, (_, at) => `Bob${at}@Bücher.example`)
    const { id } = await notifier.send({ channel, ...person, body: 'Hi', category: 'news', email: { cc } })
    const about = (address: string) => ({
      dedupeKey: address,
      notificationId: id,
      fact: { type: 'unsubscribed', providerMessageId: `m-${id}`, address },
      suppress: { reason: 'unsubscribe', scope: 'category' },
    })
    const spelled = cc.flatMap((address) => [
      address,
      address.toLowerCase(),
      address.replace('Bücher', 'xn--bcher-kva'),
    ])
    const answers = await Promise.all([
      report(spelled.map(about)),
      ...spelled.map((one) => report([about(one)])),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const categoriesOf = async (who: PreferencesOf) => (await notifier.preferences.get(who)).categories
    expect([await categoriesOf(person), await categoriesOf({ channel, to })]).toEqual([{}, {}])
    for (const address of cc)
      expect(await categoriesOf({ channel, to: address })).toEqual({ news: { email: false } })
    // Providers change the case of addresses; those are reports about the recipient all the same.
    expect((await report([about('ada@EXAMPLE.COM')])).status).toBe(200)
    expect([await categoriesOf(person), await categoriesOf({ channel, to })]).toEqual([
      { news: { email: false } },
      { news: { email: false } },
    ])
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it('suppress who bounced for good or complained, and let go who opted in again', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const bounce = {
      dedupeKey: 'b',
      notificationId: id,
      fact: { type: 'bounced', code: 'invalid_recipient' },
      suppress: { reason: 'hard_bounce' },
    }
    await report([bounce])
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'blocked_recipient', status: 422 })
    await report([{ dedupeKey: 'start', unsuppress: { address: 'ada@example.com' } }])
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'blocked_recipient' })

    const bob = { ...mail, to: 'bob@example.com' }
    await report([{ dedupeKey: 's1', suppress: { address: 'Bob@example.com', reason: 'unsubscribe' } }])
    await expect(notifier.send(bob)).rejects.toMatchObject({ code: 'unsubscribed' })
    await report([{ dedupeKey: 's2', unsuppress: { address: 'BOB@example.com' } }])
    await expect(notifier.send(bob)).resolves.toMatchObject({ status: 'queued' })
    // A report that comes once more is older than what followed it.
    await report([{ dedupeKey: 's1', suppress: { address: 'Bob@example.com', reason: 'unsubscribe' } }])
    await expect(notifier.send(bob)).resolves.toMatchObject({ status: 'queued' })
    expect((await notifier.suppressions.list()).items).toMatchObject([
      { to: 'ada@example.com', reason: 'hard_bounce', source: 'reporter' },
    ])
  })

  it('of machines, of unknown types and with nonsense in them are logged and change nothing', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const answer = await report([
      { dedupeKey: '1', notificationId: id, fact: { type: 'opened', machine: true } },
      { dedupeKey: '2', notificationId: id, fact: { type: 'reported', providerCode: 'quantum_flux' } },
      { dedupeKey: '3', notificationId: id, fact: { type: 'cancelled', code: 'no_such_code' } },
      { dedupeKey: '4', notificationId: id, suppress: { address: 'a@b.c', reason: 'mood' } },
      { dedupeKey: '5', notificationId: id, suppress: { reason: 'complaint' } },
      { dedupeKey: '', notificationId: id, fact: { type: 'delivered' } },
      null,
    ])
    expect(answer.status).toBe(200)
    const { status, timeline } = await notifier.notifications.get(id)
    expect(status).toBe('sent')
    expect(timeline.map(({ event }) => event).sort()).toEqual([
      'opened',
      'queued',
      'reported',
      'reported',
      'sent',
    ])
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it('of a failure whose reason the provider does not give say so everywhere', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const events: NotificationEvent[] = []
    notifier.on('notification.failed', (event) => events.push(event))
    const fact = { type: 'undelivered', providerMessageId: `m-${id}`, providerCode: 'UNDELIV' }
    expect((await report([{ dedupeKey: 'r1', fact }])).status).toBe(200)
    const { message } = ERRORS.provider_error
    const error = { code: 'provider_error', message, providerCode: 'UNDELIV' }
    expect(events).toMatchObject([{ data: { id, status: 'failed', error } }])
    const { error: recorded, timeline } = await notifier.notifications.get(id)
    expect(recorded).toEqual(error)
    const entry = { event: 'undelivered', error, providerCode: 'UNDELIV', message: null }
    expect(timeline.at(-1)).toMatchObject(entry)
    expect((await notifier.logs.list({ notificationId: id })).items[0]).toMatchObject(entry)
  })

  it('show what the provider said, also where it is no error', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const busy = { type: 'deferred', providerCode: '451', message: 'Greylisted.' }
    const liked = { type: 'reported', providerCode: 'reaction_added' }
    await report([
      { dedupeKey: '1', notificationId: id, fact: busy },
      { dedupeKey: '2', notificationId: id, fact: liked },
    ])
    const said = [
      { event: 'deferred', error: null, providerCode: '451', message: 'Greylisted.' },
      { event: 'reported', error: null, providerCode: 'reaction_added', message: null },
    ]
    expect((await notifier.notifications.get(id)).timeline.slice(-2)).toMatchObject(said)
    const { items } = await notifier.logs.list({ notificationId: id, limit: 2 })
    expect([...items].reverse()).toMatchObject(said)
  })

  it('without proof are refused and recorded nowhere, and their sender is limited', async () => {
    const { notifier } = await start()
    const id = await sentOne(notifier)
    const receipt = [{ dedupeKey: 'x', notificationId: id, fact: { type: 'delivered' } }]
    const forged = await report(receipt, { signature: signatureOf('something else') })
    expect([forged.status, codeOf(forged)]).toEqual([401, 'invalid_receipt_signature'])
    expect((await notifier.notifications.get(id)).status).toBe('sent')
    for (const path of ['/receipts/email/other', '/receipts/pigeon/reporter', '/receipts/sms/reporter']) {
      const answer = await report(receipt, { path })
      expect([answer.status, codeOf(answer)], path).toEqual([404, 'not_found'])
    }
    // What cannot be read has proven nothing either.
    for (let guess = 0; guess < 40; guess += 1) {
      await report(receipt, { signature: 'guess' })
      expect([400, 429]).toContain((await report('malformed', { signature: 'guess' })).status)
    }
    expect(codeOf(await report(receipt, { signature: 'guess' }))).toBe('rate_limit_exceeded')
    // What is proven is not limited.
    expect((await report(receipt)).status).toBe(200)
    expect((await notifier.notifications.get(id)).status).toBe('delivered')
  })

  it('that a channel throws over are to be repeated, and nothing of the cause leaves', async () => {
    await start()
    const answer = await report('throw')
    expect([answer.status, codeOf(answer)]).toEqual([500, 'internal_server_error'])
    expect(answer.text).not.toContain(SECRET)
  })

  it('are verified over the address that the public sees', async () => {
    const { seen } = await start({ publicUrl: 'https://api.example.com/notifications/' })
    const path = '/receipts/email/reporter?token=a%20b'
    const body = '[]'
    const url = `https://api.example.com/notifications${path}`
    const answer = await host.call({
      method: 'POST',
      path,
      headers: { 'x-signature': signatureOf(url + body), 'content-type': 'application/x-anything' },
      body,
    })
    expect(answer.status).toBe(200)
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-anything' },
    })
  })

  it('are asked for before, where the provider says how, and strangers are limited', async () => {
    const asked: ReceiptRequest[] = []
    const channel: Provider = {
      ...reporting(),
      confirmReceipts(request) {
        asked.push(request)
        const { searchParams } = new URL(request.url)
        return searchParams.get('token') === 'sesame'
          ? { contentType: 'text/plain', body: searchParams.get('hub.challenge') ?? '' }
          : null
      },
    }
    await start({ channel, publicUrl: 'https://api.example.com', http: { strictBody: true } })
    const ask = (token: string, name = 'reporter') =>
      host.call({ path: `/receipts/email/${name}?hub.challenge=17&token=${token}` })
    const answer = await ask('sesame')
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, '17', 'text/plain'])
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: 'https://api.example.com/receipts/email/reporter?hub.challenge=17&token=sesame',
    })
    expect(codeOf(await ask('sesame', 'other'))).toBe('not_found')
    expect(codeOf(await ask('guess'))).toBe('invalid_receipt_signature')
    // A new minute may begin meanwhile, once.
    const codes = new Set<unknown>()
    for (let guess = 0; guess < 121 && !codes.has('rate_limit_exceeded'); guess += 1) {
      codes.add(codeOf(await ask('guess')))
    }
    expect(codes).toContain('rate_limit_exceeded')
    expect((await ask('sesame')).status).toBe(200)
  })

  it('of a provider that asks for nothing before come by POST, as a browser shows', async () => {
    await start()
    const answer = await host.call({ path: '/receipts/email/reporter' })
    expect([answer.status, codeOf(answer)]).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.allow).toBe('POST')
    expect(answer.text).toContain('reports here by POST')
  })

  it('to nothing that is there are not part of the API', async () => {
    await start()
    const answer = await host.call({ method: 'PUT', path: '/receipts/email' })
    expect([answer.status, answer.headers['x-request-id']]).toEqual([404, undefined])
  })
})
