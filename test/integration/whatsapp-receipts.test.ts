import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WhatsAppReceiptOptions, whatsapp } from '../../adapters/channels/whatsapp/send.ts'
import type { ReceiptRequest } from '../../src/core/ports/receipts.ts'

const SECRET = '0123456789abcdef0123456789abcdef'
const VERIFY = 'a-text-of-our-own'
const NOTIFICATION = 'notif_17637264000000000000000000001'
const WAMID = 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3RjkxQTlG'
const refused = { kind: 'refused', why: 'signature' }

function open(more: Partial<WhatsAppReceiptOptions> = {}) {
  const provider = whatsapp({
    accessToken: 'token',
    phoneNumberId: '106540352242922',
    receipts: { secret: SECRET, verifyToken: VERIFY, ...more },
  })
  onTestFinished(() => provider.close?.())
  return provider
}

async function parse(request: ReceiptRequest, more: Partial<WhatsAppReceiptOptions> = {}) {
  const parsed = await open(more).parseReceipts?.(request)
  if (parsed === undefined) throw new Error('The provider takes no reports.')
  return parsed
}

function signed(text: string, secret = SECRET): ReceiptRequest {
  return {
    method: 'POST',
    url: 'https://app.example/receipts/whatsapp/whatsapp',
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
    },
    body: Buffer.from(text),
    receivedAt: Date.now(),
  }
}

const change = (value: object, field = 'messages') => ({
  value: { messaging_product: 'whatsapp', metadata: { phone_number_id: '106540352242922' }, ...value },
  field,
})
const report = (...changes: readonly object[]) =>
  JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes }] })
const status = (state: string, more: object = {}) => ({
  id: WAMID,
  status: state,
  timestamp: '1764000000',
  recipient_id: '4915112345678',
  biz_opaque_callback_data: NOTIFICATION,
  ...more,
})

async function receiptsOf(...statuses: readonly object[]) {
  const parsed = await parse(signed(report(change({ statuses }))))
  if (parsed.kind !== 'receipts') throw new Error(parsed.message)
  return parsed.receipts
}

describe('a signature', () => {
  const body = report(change({ statuses: [status('sent')] }))

  it('is over the bytes as they came', async () => {
    // Meta escapes what is not ASCII: written anew, the JSON would have other bytes.
    const escaped = body.replace('4915112345678', '\\u00e4\\u0026')
    expect(await parse(signed(escaped))).toMatchObject({ kind: 'receipts', receipts: [{}] })
  })

  it('is refused over other bytes, by another key, in another form, and when it is missing', async () => {
    const good = signed(body)
    const signature = good.headers['x-hub-signature-256'] ?? ''
    const sha1 = `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`
    for (const bad of [
      { ...good, body: Buffer.from(`${body} `) },
      signed(body, 'another'),
      ...['', signature.slice('sha256='.length), signature.slice(0, -2), sha1].map((given) => ({
        ...good,
        headers: { 'x-hub-signature-256': given },
      })),
      { ...good, headers: { 'x-hub-signature': sha1 } },
    ]) {
      expect(await parse(bad)).toMatchObject(refused)
    }
  })

  it('may be by either secret during a change', async () => {
    for (const secret of ['new-secret', SECRET])
      expect(await parse(signed(body, secret), { secret: ['new-secret', SECRET] })).toMatchObject({
        kind: 'receipts',
      })
  })
})

describe('a report', () => {
  it('names our notification, the message and the time', async () => {
    expect(await receiptsOf(status('delivered'))).toEqual([
      {
        dedupeKey: `${WAMID}|delivered`,
        notificationId: NOTIFICATION,
        fact: { type: 'delivered', providerMessageId: WAMID, occurredAt: 1_764_000_000_000 },
      },
    ])
  })

  it('tells each step, in order', async () => {
    const receipts = await receiptsOf(status('sent'), status('delivered'), status('read'), status('warning'))
    expect(receipts.map(({ fact }) => [fact?.type, fact?.providerCode])).toEqual([
      ['sent', undefined],
      ['delivered', undefined],
      ['opened', undefined],
      ['reported', 'warning'],
    ])
    expect(new Set(receipts.map(({ dedupeKey }) => dedupeKey)).size).toBe(4)
  })

  it.each([
    [131026, 'recipient_unreachable'],
    [131047, 'content_rejected'],
    [131049, 'blocked_recipient'],
    [132001, 'template_error'],
    [131042, 'provider_suspended'],
    [4711, 'provider_error'],
  ])('says why a message failed, and suppresses nobody: %s', async (code, ours) => {
    const errors = [{ code, title: 'No', message: 'No', error_data: { details: 'In other words.' } }]
    const [receipt] = await receiptsOf(status('failed', { errors }))
    expect(receipt).toMatchObject({
      fact: { type: 'undelivered', code: ours, providerCode: String(code), message: 'In other words.' },
    })
    expect(receipt).not.toHaveProperty('suppress')
  })

  it('of an opt-out suppresses the recipient', async () => {
    const errors = [{ code: 131050, title: 'User stopped marketing messages' }]
    expect(await receiptsOf(status('failed', { errors }))).toMatchObject([
      { fact: { code: 'unsubscribed' }, suppress: { reason: 'unsubscribe' } },
    ])
  })

  it('of a failure without a reason is one all the same', async () => {
    expect(await receiptsOf(status('failed', { timestamp: undefined }))).toMatchObject([
      {
        fact: { type: 'undelivered', code: 'provider_error', providerCode: 'failed', occurredAt: undefined },
      },
    ])
  })

  it('holds those of all entries and changes', async () => {
    const body = report(
      change({ event: 'APPROVED' }, 'message_template_status_update'),
      change({ statuses: [null, 5, {}, { id: 'x' }, status('sent')] }),
      change({ statuses: 'none' }),
      { value: null },
      {},
    )
    expect(await parse(signed(body))).toMatchObject({ receipts: [{ fact: { type: 'sent' } }] })
  })

  it.each(['', 'x', 'null', '[]', '{}', '{"entry":{}}'])('that is none is malformed: %s', async (text) => {
    expect(await parse(signed(text))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })
})

describe('an incoming message', () => {
  const address = '+4915112345678'
  const message = (content: object, from = '4915112345678') => ({ from, id: 'wamid.in', ...content })
  const text = (body: string, from?: string) => message({ type: 'text', text: { body } }, from)
  async function receiptsOf(messages: readonly unknown[], metadata: object = {}) {
    const named = { phone_number_id: '106540352242922', display_phone_number: '1 555-078-3881', ...metadata }
    const parsed = await parse(signed(report(change({ messages, metadata: named }))))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    return parsed.receipts
  }
  const received = (content: string) => ({
    dedupeKey: 'wamid.in|incoming',
    received: { from: address, to: '+15550783881', text: content },
  })

  it('opts out and in by its keyword alone', async () => {
    const suppress = { address, reason: 'stop' }
    expect(await receiptsOf([text('Stop.')])).toEqual([{ ...received('Stop.'), suppress }])
    expect(await receiptsOf([text('START')])).toEqual([{ ...received('START'), unsuppress: { address } }])
    expect(await receiptsOf([text('Please stop')])).toEqual([received('Please stop')])
    const button = message({ type: 'button', button: { payload: 'x', text: 'STOP' } })
    expect(await receiptsOf([button])).toEqual([{ ...received('STOP'), suppress }])
  })

  it.each([
    { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Yes' } } },
    { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: 'Yes' } } },
    { type: 'image', image: { id: '1', caption: 'Yes' } },
    { type: 'document', document: { id: '1', filename: 'a.pdf', caption: 'Yes' } },
  ])('has the words of what was pressed or captioned: %j', async (content) => {
    expect(await receiptsOf([message(content)])).toEqual([received('Yes')])
  })

  it('without words or a writer is nothing', async () => {
    const messages = [
      message({ type: 'image', image: { id: '1' } }),
      message({ type: 'reaction', reaction: { emoji: '👍' } }),
      message({ type: '__proto__' }),
      message({}),
      text('STOP', 'nobody'),
      { id: 'wamid.in', type: 'text', text: { body: 'STOP' } },
      ...[null, 5, [], 'STOP'],
    ]
    expect(await receiptsOf(messages)).toEqual([])
  })

  it("to another number of the Meta app is another provider's", async () => {
    for (const id of ['106540352242923', undefined])
      expect(await receiptsOf([text('STOP')], { phone_number_id: id })).toEqual([])
  })

  it('to a further sender of the provider is its own', async () => {
    const provider = whatsapp({
      accessToken: 'token',
      phoneNumberId: '1',
      senders: { '+15550783881': '106540352242922' },
      receipts: { secret: SECRET, verifyToken: VERIFY },
    })
    onTestFinished(() => provider.close?.())
    const body = report(change({ messages: [text('STOP')] }))
    expect(await provider.parseReceipts?.(signed(body))).toMatchObject({ receipts: [{ suppress: {} }] })
  })
})

describe('the question for the address', () => {
  const ask = (query: Readonly<Record<string, string>>) =>
    open().confirmReceipts?.({
      method: 'GET',
      url: `https://app.example/receipts/whatsapp/whatsapp?${new URLSearchParams(query)}`,
      headers: {},
      body: new Uint8Array(),
      receivedAt: Date.now(),
    })
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': VERIFY, 'hub.challenge': '1158201444' }

  it('is answered with its challenge', () => {
    expect(ask(right)).toEqual({ contentType: 'text/plain; charset=utf-8', body: '1158201444' })
  })

  it.each([
    ['another token', { 'hub.verify_token': 'other' }],
    ['no token', { 'hub.verify_token': '' }],
    ['another mode', { 'hub.mode': 'unsubscribe' }],
    ['no challenge', { 'hub.challenge': '' }],
    ['a page as a challenge', { 'hub.challenge': '<script>' }],
  ])('is not answered with %s', (_what, wrong) => {
    expect(ask({ ...right, ...wrong })).toBeNull()
  })
})
