import { createHash, createHmac, generateKeyPairSync } from 'node:crypto'
import { verifySignature } from '@vonage/jwt'
import { SMS } from '@vonage/sms'
import fc from 'fast-check'
import { SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type VonageReceiptOptions, vonage } from '../../adapters/channels/vonage/send.ts'
import { faultOf, SIGNATURE_METHODS, type SignatureMethod } from '../../adapters/channels/vonage/signature.ts'
import type { ReceiptRequest } from '../../src/core/ports/receipts.ts'

const KEY = 'abcd1234'
const SECRET = 'a-signature-secret-of-some-length'
const NOTIFICATION = 'notif_17637264000000000000000000001'
const now = () => Math.floor(Date.now() / 1000)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const refused = { kind: 'refused', why: 'signature' }

function open(more: Partial<VonageReceiptOptions> = {}) {
  const channel = vonage({
    apiKey: KEY,
    apiSecret: 'api-secret',
    from: 'ACME',
    receipts: { secret: SECRET, ...more },
  })
  onTestFinished(() => channel.close?.())
  return async (request: ReceiptRequest) => {
    const parsed = await channel.parseReceipts?.(request)
    if (parsed === undefined) throw new Error('The channel takes no reports.')
    return parsed
  }
}

interface Forged {
  readonly secret?: string
  readonly alg?: string
  readonly iat?: number
  readonly claims?: object
}

/** A report as Vonage signs it: by another implementation of JWT than ours. */
async function withToken(fields: object, forged: Forged = {}): Promise<ReceiptRequest> {
  const body = JSON.stringify(fields)
  const { secret = SECRET, alg = 'HS256', iat = now(), claims = {} } = forged
  const token = await new SignJWT({ iss: 'Vonage', api_key: KEY, payload_hash: sha256(body), iat, ...claims })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .sign(Buffer.from(secret))
  return {
    method: 'POST',
    url: 'https://app.example/receipts/sms/vonage',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: Buffer.from(body),
    receivedAt: Date.now(),
  }
}

const dlr = (status: string, code = '0', more: object = {}) => ({
  msisdn: '4915112345678',
  to: 'ACME',
  'network-code': '26201',
  messageId: '0A0000000123ABCD1',
  price: '0.03330000',
  status,
  scts: '2011151200',
  'err-code': code,
  'api-key': KEY,
  'client-ref': NOTIFICATION,
  'message-timestamp': '2026-11-21 12:00:00',
  ...more,
})

describe('a signed token', () => {
  it("holds here and in Vonage's own verifier", async () => {
    const request = await withToken(dlr('delivered'))
    expect(await open()(request)).toMatchObject({ kind: 'receipts' })
    expect(verifySignature(request.headers.authorization?.slice(7) ?? '', SECRET)).toBe(true)
  })

  it('is refused with another key, another body, old, of the future, without a hash, of another account', async () => {
    const parse = open()
    const good = await withToken(dlr('delivered'))
    const changed = Buffer.from(good.body)
    changed[5] = (changed[5] ?? 0) ^ 1
    const token = good.headers.authorization ?? ''
    for (const [what, bad] of Object.entries({
      'another key': await withToken(dlr('delivered'), { secret: 'another-secret-of-some-length!!!' }),
      'another body': { ...good, body: changed },
      'a changed claim': {
        ...good,
        headers: { ...good.headers, authorization: token.replace(/\.(..)/, '.eX') },
      },
      'a day and more old': await withToken(dlr('delivered'), { iat: now() - 90_100 }),
      'of the future': await withToken(dlr('delivered'), { iat: now() + 900 }),
      'no hash': await withToken(dlr('delivered'), { claims: { payload_hash: undefined } }),
      'another account': await withToken(dlr('delivered'), { claims: { api_key: 'other' } }),
      'no token': { ...good, headers: { 'content-type': 'application/json' } },
      'another algorithm': await withToken(dlr('delivered'), { alg: 'HS512', secret: SECRET.repeat(3) }),
    })) {
      expect(await parse(bad), what).toMatchObject(refused)
    }
  })

  it('is refused unsigned, and signed by a key that is public', async () => {
    const good = await withToken(dlr('delivered'))
    const [, payload = ''] = good.headers.authorization?.slice(7).split('.') ?? []
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    const rs256 = Buffer.from('{"alg":"RS256","typ":"JWT"}').toString('base64url')
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const mac = createHmac('sha256', pem).update(`${rs256}.${payload}`).digest('base64url')
    // Even over the right secret: what the header says must be what is checked.
    const misnamed = createHmac('sha256', SECRET).update(`${rs256}.${payload}`).digest('base64url')
    for (const token of [
      `${none}.${payload}.`,
      `${none}.${payload}.AA`,
      `${rs256}.${payload}.${mac}`,
      `${rs256}.${payload}.${misnamed}`,
    ]) {
      const request = { ...good, headers: { ...good.headers, authorization: `Bearer ${token}` } }
      expect(await open()(request)).toMatchObject(refused)
    }
  })

  it('may be signed by either secret during a change', async () => {
    const parse = open({ secret: ['new-secret-of-some-length-at-least', SECRET] })
    expect(await parse(await withToken(dlr('delivered')))).toMatchObject({ kind: 'receipts' })
  })
})

describe('a signature among the fields', () => {
  /** Vonage's names for them. */
  const ALGORITHMS = {
    md5hash: 'MD5HASH',
    md5: 'MD5HMAC',
    sha1: 'SHA1HMAC',
    sha256: 'SHA256HMAC',
    sha512: 'SHA512HMAC',
  } as const
  const sms = new SMS({ apiKey: KEY, apiSecret: 'x' })

  /** As Vonage documents it, for a request of which nothing else is signed. */
  function sign(fields: Readonly<Record<string, string>>, method: SignatureMethod): string {
    const text = Object.keys(fields)
      .sort()
      .reduce((left, name) => `${left}&${name}=${(fields[name] ?? '').replace(/[&=]/g, '_')}`, '')
    return method === 'md5hash'
      ? createHash('md5')
          .update(text + SECRET)
          .digest('hex')
      : createHmac(method, SECRET).update(text).digest('hex')
  }

  function withField(
    fields: Readonly<Record<string, string>>,
    method: SignatureMethod,
    sig?: string,
  ): ReceiptRequest {
    const timed = { timestamp: String(now()), nonce: 'aaaa', ...fields }
    return {
      method: 'POST',
      url: 'https://app.example/receipts/sms/vonage',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(
        new URLSearchParams({ ...timed, sig: sig ?? sign(timed, method).toUpperCase() }).toString(),
      ),
      receivedAt: Date.now(),
    }
  }

  const texts = fc.dictionary(
    fc.stringMatching(/^[a-z][a-z-]{0,9}$/).filter((name) => !['sig', 'timestamp', 'nonce'].includes(name)),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  )

  it.each(SIGNATURE_METHODS)('is verified as by Vonage: %s', (method) => {
    const proof = { secret: [SECRET], method, apiKey: KEY }
    fc.assert(
      fc.property(texts, fc.boolean(), (fields, forged) => {
        const request = withField(fields, method, forged ? '0'.repeat(32) : undefined)
        const read = Object.fromEntries(new URLSearchParams(Buffer.from(request.body).toString()))
        const theirs = sms.verifySignature(read.sig ?? '', read, SECRET, ALGORITHMS[method] as never)
        expect(faultOf(request, read, proof) === null).toBe(theirs)
        expect(theirs).toBe(!forged)
      }),
    )
  })

  it('is no proof unless the option says so, and grows old', async () => {
    const fields = { messageId: 'm1', status: 'delivered', msisdn: '4915112345678' }
    expect(await open()(withField(fields, 'sha256'))).toMatchObject(refused)
    const parse = open({ method: 'sha256' })
    expect(await parse(withField(fields, 'sha256'))).toMatchObject({
      receipts: [{ fact: { type: 'delivered', providerMessageId: 'm1' } }],
    })
    expect(await parse(withField(fields, 'md5hash'))).toMatchObject(refused)
    expect(await parse(withField({ ...fields, timestamp: String(now() - 90_100) }, 'sha256'))).toMatchObject(
      refused,
    )
  })

  it('is not looked for in a form of more fields than Vonage sends', async () => {
    const parse = open({ method: 'sha256' })
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 'x']))
    // Beside them: timestamp, nonce and sig.
    expect(await parse(withField(fields(997), 'sha256'))).toMatchObject({ kind: 'receipts' })
    expect(await parse(withField(fields(998), 'sha256'))).toMatchObject(refused)
  })
})

describe('a report', () => {
  const parse = async (fields: object) => {
    const parsed = await open()(await withToken(fields))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    return parsed.receipts
  }

  it('names our notification, the message and the time', async () => {
    expect(await parse(dlr('delivered'))).toEqual([
      {
        dedupeKey: '0A0000000123ABCD1|delivered|0',
        notificationId: NOTIFICATION,
        fact: {
          type: 'delivered',
          providerMessageId: '0A0000000123ABCD1',
          occurredAt: Date.UTC(2026, 10, 21, 12),
        },
      },
    ])
  })

  it.each([
    ['1', 'provider_error'],
    ['2', 'recipient_unreachable'],
    ['3', 'invalid_phone_number'],
    ['4', 'blocked_recipient'],
    ['5', 'invalid_phone_number'],
    ['6', 'spam_detected'],
    ['7', 'recipient_unreachable'],
    ['8', 'recipient_unreachable'],
    ['9', 'unsubscribed'],
    ['10', 'content_rejected'],
    ['11', 'carrier_blocked'],
    ['12', 'recipient_unreachable'],
    ['13', 'blocked_recipient'],
    ['14', 'carrier_blocked'],
    ['15', 'recipient_unreachable'],
    ['16', 'provider_quota_exceeded'],
    ['39', 'invalid_sender'],
    ['50', 'sender_not_registered'],
    ['51', 'sender_not_registered'],
    ['52', 'content_rejected'],
    ['53', 'blocked_recipient'],
    ['99', 'provider_error'],
    ['4711', 'provider_error'],
  ])('says why a message failed: %s', async (code, ours) => {
    for (const status of ['failed', 'rejected']) {
      expect(await parse(dlr(status, code))).toMatchObject([
        { fact: { type: 'undelivered', code: ours, providerCode: `${status} ${code}` } },
      ])
    }
  })

  it.each([
    ['1000', 'provider_rate_limited'],
    ['1030', 'provider_unavailable'],
    ['1040', 'carrier_blocked'],
    ['1050', 'blocked_recipient'],
    ['1060', 'provider_suspended'],
    ['1070', 'provider_quota_exceeded'],
    ['1090', 'message_too_large'],
    ['1100', 'provider_unavailable'],
    ['1120', 'invalid_sender'],
    ['1160', 'blocked_recipient'],
    ['1170', 'invalid_phone_number'],
    ['1180', 'recipient_unreachable'],
    ['1190', 'invalid_phone_number'],
    ['1200', 'invalid_phone_number'],
    ['1210', 'spam_detected'],
    ['1220', 'recipient_unreachable'],
    ['1230', 'recipient_unreachable'],
    ['1240', 'unsubscribed'],
    ['1250', 'carrier_blocked'],
    ['1260', 'recipient_unreachable'],
    ['1270', 'blocked_recipient'],
    ['1280', 'carrier_blocked'],
    ['1290', 'recipient_unreachable'],
    ['1360', 'expired'],
    ['1330', 'provider_error'],
  ])('says in the format of the Messages API why a message failed: %s', async (title, ours) => {
    const error = { type: `https://developer.vonage.com/api-errors/messages#${title}`, title: Number(title) }
    const fields = {
      message_uuid: 'a',
      to: '4915112345678',
      status: 'rejected',
      client_ref: NOTIFICATION,
      error,
    }
    expect(await parse(fields)).toMatchObject([
      { fact: { type: 'undelivered', code: ours, providerCode: `rejected ${title}` } },
    ])
  })

  it('of an opt-out suppresses the recipient, and no other failure does', async () => {
    const suppress = { reason: 'stop' }
    expect(await parse(dlr('rejected', '9'))).toMatchObject([{ suppress }])
    const fields = { message_uuid: 'a', to: '4915112345678', status: 'rejected', error: { title: '1240' } }
    expect(await parse(fields)).toMatchObject([{ suppress }])
    const [other] = await parse(dlr('rejected', '3'))
    expect(other).not.toHaveProperty('suppress')
  })

  it('of a message that expired says so', async () => {
    expect(await parse(dlr('expired', '1'))).toMatchObject([
      { fact: { type: 'undelivered', code: 'expired' } },
    ])
  })

  it.each(['accepted', 'buffered', 'submitted'])('%s is no news', async (status) => {
    expect(await parse(dlr(status))).toEqual([])
  })

  it('of a state that nobody knows is kept', async () => {
    expect(await parse(dlr('unknown', '1'))).toMatchObject([
      { fact: { type: 'reported', providerCode: 'unknown 1' } },
    ])
  })

  it('in the format of the Messages API is read as well', async () => {
    const status = (name: string, more: object = {}) => ({
      message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      to: '4915112345678',
      from: 'ACME',
      timestamp: '2026-11-21T12:00:00.000Z',
      status: name,
      channel: 'sms',
      client_ref: NOTIFICATION,
      ...more,
    })
    expect(await parse(status('delivered'))).toMatchObject([
      {
        notificationId: NOTIFICATION,
        fact: {
          type: 'delivered',
          providerMessageId: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
          occurredAt: Date.UTC(2026, 10, 21, 12),
        },
      },
    ])
    expect(await parse(status('read'))).toMatchObject([{ fact: { type: 'opened' } }])
    expect(
      await parse(status('undeliverable', { error: { title: '1320', detail: 'Not known.' } })),
    ).toMatchObject([
      { fact: { type: 'undelivered', providerCode: 'undeliverable 1320', message: 'Not known.' } },
    ])
  })

  it('that is no object is malformed', async () => {
    expect(await open()(await withToken(['x']))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })
})

describe('an incoming message', () => {
  const parse = async (fields: object) => {
    const parsed = await open()(await withToken(fields))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    return parsed.receipts
  }
  const address = '+4915112345678'
  const received = (text: string, to = '+4915100000000') => ({
    dedupeKey: 'in-1|incoming',
    received: { from: address, to, text },
  })
  const formats = (text: string) => [
    { msisdn: '4915112345678', to: '4915100000000', messageId: 'in-1', text, type: 'text', keyword: 'X' },
    {
      message_uuid: 'in-1',
      from: '4915112345678',
      to: '4915100000000',
      text,
      channel: 'sms',
      message_type: 'text',
    },
  ]

  it('opts out and in by its keyword alone', async () => {
    for (const fields of formats('“Stop.”'))
      expect(await parse(fields)).toEqual([{ ...received('“Stop.”'), suppress: { address, reason: 'stop' } }])
    for (const fields of formats('START'))
      expect(await parse(fields)).toEqual([{ ...received('START'), unsuppress: { address } }])
    for (const fields of formats('Please stop'))
      expect(await parse(fields)).toEqual([received('Please stop')])
  })

  it('may be written to a short code', async () => {
    const [fields] = formats('Hello')
    expect(await parse({ ...fields, to: '12345' })).toEqual([received('Hello', '12345')])
  })

  it('from something that is no number changes nothing', async () => {
    expect(await parse({ msisdn: 'ACME', messageId: 'in-1', text: 'STOP' })).toEqual([])
  })
})
