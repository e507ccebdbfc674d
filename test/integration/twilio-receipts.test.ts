import { createHash } from 'node:crypto'
import fc from 'fast-check'
import twilioProvider from 'twilio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TWILIO_ERRORS } from '../../adapters/channels/twilio/errors.ts'
import { twilio, twilioWhatsApp } from '../../adapters/channels/twilio/send.ts'
import { isSignedByTwilio } from '../../adapters/channels/twilio/signature.ts'
import type { ReceiptRequest } from '../../src/core/ports/receipts.ts'

const TOKEN = 'correct-horse-battery-staple'
const URL_ = 'https://app.example/receipts/sms/twilio?carillon_id=notif_17637264000000000000000000001'
const SID = `SM${'a'.repeat(32)}`
const { getExpectedTwilioSignature, validateRequest, validateRequestWithBody } = twilioProvider

type Fields = Readonly<Record<string, string | readonly string[]>>

function formOf(fields: Fields): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const one of typeof value === 'string' ? [value] : value) form.append(name, one)
  return form.toString()
}

/** A request as Twilio makes it, signed by Twilio's own code. */
function signed(fields: Fields, url = URL_, token = TOKEN): ReceiptRequest {
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': getExpectedTwilioSignature(token, url, fields),
    },
    body: Buffer.from(formOf(fields)),
    receivedAt: Date.now(),
  }
}

function open(more: Partial<Parameters<typeof twilio>[0]> = {}) {
  const channel = twilio({
    accountSid: `AC${'0'.repeat(32)}`,
    authToken: TOKEN,
    receipts: {},
    from: '+15005550006',
    ...more,
  })
  onTestFinished(() => channel.close?.())
  return async (request: ReceiptRequest) => {
    const parsed = await channel.parseReceipts?.(request)
    if (parsed === undefined) throw new Error('The channel takes no reports.')
    return parsed
  }
}

const report = (status: string, more: Fields = {}): Fields => ({
  MessageSid: SID,
  SmsSid: SID,
  MessageStatus: status,
  To: '+4915112345678',
  From: '+15005550006',
  AccountSid: `AC${'0'.repeat(32)}`,
  ApiVersion: '2010-04-01',
  ...more,
})
const refused = { kind: 'refused', why: 'signature' }

describe('the signature', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 })
  const url = fc
    .record({
      user: fc.constantFrom('', 'ada@', 'ada:secret@', 'ada:p%40ss@', 'ada:443@'),
      host: fc.constantFrom(
        'app.example',
        'app.example:443',
        'app.example:8443',
        '[2001:db8::1]',
        '[::1]:80',
      ),
      path: fc.constantFrom('/', '/receipts/sms/twilio', "/it's", '/a%20b'),
      query: fc.constantFrom('', '?carillon_id=notif_1', "?a='b'&c=%27"),
    })
    .map(({ user, host, path, query }) => `https://${user}${host}${path}${query}`)

  it('is verified as by Twilio: their signature holds here', () => {
    fc.assert(
      fc.property(
        url,
        fc.dictionary(text, fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }))),
        (at, fields) => {
          const request = signed(fields, at)
          expect(isSignedByTwilio(request, at, [TOKEN])).toBe(true)
          expect(isSignedByTwilio(request, at, ['another-token'])).toBe(false)
          expect(isSignedByTwilio(request, at, ['another-token', TOKEN])).toBe(true)
        },
      ),
    )
  })

  it('is verified as by Twilio: what a stranger changed holds in neither', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text, { minKeys: 1 }), fc.nat(), text, (fields, at, value) => {
        const names = Object.keys(fields)
        const name = names[at % names.length] ?? ''
        const changed = { ...fields, [name]: value }
        const signature = getExpectedTwilioSignature(TOKEN, URL_, fields)
        const request = { ...signed(changed), headers: { 'x-twilio-signature': signature } }
        expect(isSignedByTwilio(request, URL_, [TOKEN])).toBe(
          validateRequest(TOKEN, signature, URL_, changed),
        )
      }),
    )
  })

  it.each([
    ['as configured', 'https://app.example/r', 'https://app.example/r'],
    ['with the standard port', 'https://app.example/r', 'https://app.example:443/r'],
    ['without it', 'https://app.example:443/r?x=1', 'https://app.example/r?x=1'],
    [
      'with credentials and the port',
      'https://ada:secret@app.example/r',
      'https://ada:secret@app.example:443/r',
    ],
    [
      'with credentials, without the port',
      'https://ada:secret@app.example:8443/r',
      'https://ada:secret@app.example/r',
    ],
    ['with credentials like a port', 'https://ada:443@app.example:443/r', 'https://ada:443@app.example/r'],
    ['with an apostrophe', "https://app.example/it's?a='b'", "https://app.example/it's?a='b'"],
    ['with an escaped apostrophe', "https://app.example/r?a='b'", 'https://app.example/r?a=%27b%27'],
    ['with both', "https://ada:secret@app.example:443/r?a='b'", 'https://ada:secret@app.example/r?a=%27b%27'],
  ])('may be over the address %s', (_, configured, over) => {
    const fields = report('delivered')
    const request = signed(fields, over)
    expect(isSignedByTwilio({ ...request, url: configured }, configured, [TOKEN])).toBe(true)
    expect(
      validateRequest(TOKEN, request.headers['x-twilio-signature'] ?? '', configured, { ...fields }),
    ).toBe(true)
  })

  it('covers JSON by its hash', async () => {
    const body = JSON.stringify(report('delivered'))
    const url = `${URL_}&bodySHA256=${createHash('sha256').update(body).digest('hex')}`
    const signature = getExpectedTwilioSignature(TOKEN, url, {})
    expect(validateRequestWithBody(TOKEN, signature, url, body)).toBe(true)
    const request = {
      ...signed({}, url),
      headers: { 'content-type': 'application/json', 'x-twilio-signature': signature },
      body: Buffer.from(body),
    }
    const parse = open()
    expect(await parse(request)).toMatchObject({
      receipts: [{ fact: { type: 'delivered', providerMessageId: SID } }],
    })
    expect(
      await parse({ ...request, body: Buffer.from(body.replace('delivered', 'delivereD')) }),
    ).toMatchObject(refused)
    expect(await parse({ ...request, body: Buffer.from('{') })).toMatchObject(refused)
  })

  it('is refused over another key, body, address, or none at all', async () => {
    const parse = open()
    const good = signed(report('delivered'))
    const swapped = Buffer.from(good.body)
    swapped[12] = (swapped[12] ?? 0) ^ 1
    expect(await parse(good)).toMatchObject({ kind: 'receipts' })
    for (const bad of [
      signed(report('delivered'), URL_, 'another-token'),
      { ...good, body: swapped },
      { ...good, url: URL_.replace('0001', '0002') },
      { ...good, url: URL_.replace('app.example', 'evil.example') },
      { ...good, headers: {} },
      { ...good, headers: { ...good.headers, 'x-twilio-signature': '' } },
    ]) {
      expect(await parse(bad)).toMatchObject(refused)
    }
  })

  it('is not looked for in a form of more fields than Twilio sends', async () => {
    const parse = open()
    const more = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`Field${index}`, 'x']))
    const most = 1_000 - Object.keys(report('delivered')).length
    expect(await parse(signed(report('delivered', more(most))))).toMatchObject({ kind: 'receipts' })
    expect(await parse(signed(report('delivered', more(most + 1))))).toMatchObject(refused)
  })

  it('is over the configured address, where proxies hide it, and by several tokens during a change', async () => {
    const parse = open({
      receipts: { url: 'https://app.example/receipts/sms/twilio', secret: ['new-token', TOKEN] },
    })
    const request = signed(report('delivered'))
    const inside = { ...request, url: request.url.replace('https://app.example', 'http://10.0.0.1:3000') }
    expect(await parse(inside)).toMatchObject({ kind: 'receipts' })
    expect(await open()(inside)).toMatchObject(refused)
  })
})

describe('a report', () => {
  const parse = async (fields: Fields) => {
    const parsed = await open()(signed(fields))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    return parsed.receipts
  }

  it('names our notification and the message', async () => {
    expect(await parse(report('delivered'))).toEqual([
      {
        dedupeKey: `${SID}|delivered`,
        notificationId: 'notif_17637264000000000000000000001',
        fact: { type: 'delivered', providerMessageId: SID },
      },
    ])
  })

  it.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'opened'],
    ['undelivered', 'undelivered'],
    ['failed', 'undelivered'],
    ['canceled', 'undelivered'],
    ['teleported', 'reported'],
  ])('%s is %s', async (status, type) => {
    expect(await parse(report(status))).toMatchObject([{ fact: { type } }])
  })

  it.each(['accepted', 'scheduled', 'queued', 'sending'])('%s is no news', async (status) => {
    expect(await parse(report(status))).toEqual([])
  })

  it.each(Object.entries(TWILIO_ERRORS))('says why: %s', async (code, [, ours]) => {
    expect(await parse(report('undelivered', { ErrorCode: code }))).toMatchObject([
      { fact: { type: 'undelivered', code: ours, providerCode: code } },
    ])
  })

  it('with a code that nobody knows keeps it', async () => {
    expect(await parse(report('failed', { ErrorCode: '99999', ErrorMessage: 'New' }))).toMatchObject([
      { fact: { code: 'provider_error', providerCode: '99999', message: 'New' } },
    ])
  })

  it('of an opt-out suppresses the recipient, and no other failure does', async () => {
    const suppress = { reason: 'stop' }
    for (const ErrorCode of ['21610', '30630']) {
      expect(await parse(report('undelivered', { ErrorCode }))).toMatchObject([{ suppress }])
    }
    const [other] = await parse(report('undelivered', { ErrorCode: '30005' }))
    expect(other).not.toHaveProperty('suppress')
  })
})

describe('an incoming message', () => {
  const from = '+4915112345678'
  const parse = async (Body: string, more: Fields = {}) => {
    const fields = { MessageSid: SID, SmsStatus: 'received', From: from, To: '+15005550006', Body, ...more }
    const parsed = await open()(signed(fields))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    expect(parsed.answer).toEqual({ contentType: 'text/xml', body: '<Response/>' })
    return parsed.receipts
  }
  const received = (text: string, to = '+15005550006') => ({
    dedupeKey: `${SID}|incoming`,
    received: { from, to, text },
  })
  const suppress = { address: from, reason: 'stop' }
  const unsuppress = { address: from }

  it.each(['STOP', 'stop', ' Stop\n', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE'])(
    'opts out: %j',
    async (body) => {
      expect(await parse(body)).toEqual([{ ...received(body), suppress }])
    },
  )
  it.each(['START', 'unstop'])('opts in: %j', async (body) => {
    expect(await parse(body)).toEqual([{ ...received(body), unsuppress }])
  })
  it.each(['Stop it', 'Please STOP', 'YES', 'HELP', 'Hello'])(
    'is told and changes nothing: %j',
    async (body) => {
      expect(await parse(body)).toEqual([received(body)])
    },
  )
  it('without a text is nothing', async () => {
    expect(await parse('')).toEqual([])
  })
  it('of another channel, which a messaging service posts to the same address, changes nothing', async () => {
    for (const scheme of ['whatsapp:', 'rcs:', 'messenger:'])
      expect(await parse('STOP', { From: scheme + from })).toEqual([])
  })
  it('of WhatsApp is one of its own provider alone', async () => {
    const provider = twilioWhatsApp({
      accountSid: `AC${'0'.repeat(32)}`,
      authToken: TOKEN,
      receipts: {},
      from,
    })
    onTestFinished(() => provider.close?.())
    const fields = { MessageSid: SID, SmsStatus: 'received', Body: 'STOP' }
    const read = (more: Fields) => provider.parseReceipts?.(signed({ ...fields, ...more }))
    expect(await read({ From: `whatsapp:${from}`, To: 'whatsapp:+14155238886' })).toMatchObject({
      receipts: [{ ...received('STOP', '+14155238886'), suppress }],
    })
    for (const From of [from, `rcs:${from}`]) expect(await read({ From })).toMatchObject({ receipts: [] })
    const read2 = report('read', { EventType: 'READ', To: `whatsapp:${from}` })
    expect(await provider.parseReceipts?.(signed(read2))).toMatchObject({
      receipts: [{ notificationId: 'notif_17637264000000000000000000001', fact: { type: 'opened' } }],
    })
  })
  it('is understood as Twilio has understood it, with keywords of its own', async () => {
    expect(await parse('HALT', { OptOutType: 'STOP' })).toEqual([{ ...received('HALT'), suppress }])
    expect(await parse('DEBUT', { OptOutType: 'START' })).toEqual([{ ...received('DEBUT'), unsuppress }])
    expect(await parse('STOP', { OptOutType: 'HELP' })).toEqual([received('STOP')])
  })
})
