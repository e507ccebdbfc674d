import { describe, expect, it } from 'vitest'
import { webhookSigner } from '../../../src/outgoing/webhook-signer.ts'
import { verifyWebhook, type WebhookEvent, type WebhookHeaders } from '../../../src/webhook-receiver/index.ts'

const signer = webhookSigner()
const secret = signer.newSecret()
const NOW = Date.UTC(2026, 10, 21)
const now = () => NOW
const body = JSON.stringify({ event: 'notification.delivered', data: { to: 'å🎉' } })
const signed = (text = body, secrets = [secret], at = NOW / 1000) =>
  signer.headers('evt_1_2', at, text, secrets)

describe('verifyWebhook', () => {
  it('reproduces the vector of the reference library', () => {
    // It holds no event, so that the right signature shows in the kind of refusal.
    const verify = (signature: string): WebhookEvent =>
      verifyWebhook(
        '{"test": 2432232314}',
        {
          'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
          'webhook-timestamp': '1614265330',
          'webhook-signature': signature,
        },
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        { now: () => 1_614_265_330_000 },
      )
    expect(() => verify('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    )
    expect(() => verify('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=')).toThrow(
      expect.objectContaining({ code: 'invalid_webhook_signature', status: 401 }),
    )
  })

  it.each<[string, WebhookHeaders]>([
    ['a plain object', signed()],
    ['names in any case', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k.toUpperCase(), v]))],
    ['Headers', new Headers(signed())],
    ["Node's headers", { ...signed(), 'set-cookie': ['a', 'b'], host: undefined }],
  ])('takes headers as %s', (_, headers) => {
    expect(verifyWebhook(body, headers, secret, { now })).toEqual(JSON.parse(body))
  })

  it.each([
    ['text', body],
    ['a Buffer', Buffer.from(body)],
    ['bytes', new TextEncoder().encode(body)],
  ])('takes a body as %s', (_, raw) => {
    expect(verifyWebhook(raw, signed(), secret, { now })).toEqual(JSON.parse(body))
  })

  it('accepts either secret while one rotates, on the side of the sender and on that of the receiver', () => {
    const [newest, old, stranger] = [signer.newSecret(), secret, signer.newSecret()]
    expect(verifyWebhook(body, signed(body, [newest, old]), old, { now })).toBeDefined()
    expect(verifyWebhook(body, signed(body, [newest, old]), newest, { now })).toBeDefined()
    expect(verifyWebhook(body, signed(body, [old]), [newest, old], { now })).toBeDefined()
    expect(() => verifyWebhook(body, signed(body, [newest, old]), [stranger], { now })).toThrow()
  })

  it.each([
    [-300, true],
    [300, true],
    [-301, false],
    [301, false],
  ])('by default, a timestamp %i seconds off is accepted: %s', (off, accepted) => {
    const verify = () => verifyWebhook(body, signed(body, [secret], NOW / 1000 + off), secret, { now })
    if (accepted) expect(verify()).toBeDefined()
    else
      expect(verify).toThrow(expect.objectContaining({ code: 'webhook_timestamp_out_of_range', status: 401 }))
  })

  it('looks at the first ten signatures that could be right', () => {
    const { 'webhook-signature': own = '', ...rest } = signed()
    const wrong = `v1,${'A'.repeat(43)}=`
    const verify = (before: readonly string[]) =>
      verifyWebhook(body, { ...rest, 'webhook-signature': [...before, own].join(' ') }, secret, { now })
    const short = Array<string>(5_000).fill('v1,AAAA')
    expect(verify([...short, ...Array<string>(9).fill(wrong)])).toBeDefined()
    expect(() => verify(Array<string>(10).fill(wrong))).toThrow(
      expect.objectContaining({ code: 'invalid_webhook_signature' }),
    )
  })

  it('takes another tolerance', () => {
    const late = signed(body, [secret], NOW / 1000 - 600)
    expect(verifyWebhook(body, late, secret, { now, toleranceMs: 600_000 })).toBeDefined()
    expect(() => verifyWebhook(body, late, secret, { now, toleranceMs: 599_000 })).toThrow()
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('names %s when it is missing', (name) => {
    const { [name]: _dropped, ...rest } = signed()
    expect(() => verifyWebhook(body, rest, secret, { now })).toThrow(
      expect.objectContaining({ code: 'invalid_webhook_signature', message: expect.stringContaining(name) }),
    )
  })

  it('refuses bytes that are no UTF-8, whoever signed them', () => {
    const bytes = Buffer.from('{"event":"a","data":{"to":"\xff"}}', 'latin1')
    // What the reference library hashes instead: the same text with U+FFFD.
    const replaced = signed(bytes.toString('utf8'))
    expect(() => verifyWebhook(bytes, replaced, secret, { now })).toThrow(
      expect.objectContaining({ code: 'invalid_webhook_signature' }),
    )
  })

  it.each([
    'null',
    '[]',
    '{"data":{}}',
    '{"event":"a"}',
    '{"event":"a","data":null}',
    '{"event":1,"data":{}}',
  ])('takes %s for no event, whoever signed it', (text) => {
    expect(() => verifyWebhook(text, signed(text), secret, { now })).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    )
  })

  it.each([
    ['a parsed body', { event: 'x' } as unknown as string, secret, {}],
    ['no secret', body, '', {}],
    ['an empty list of secrets', body, [], {}],
    ['a secret that is not there', body, undefined as unknown as string, {}],
    ['a secret with too much padding', body, 'whsec_AAAA===', {}],
    ['a secret that was cut', body, secret.slice(0, -3), {}],
    ['one bad secret of two', body, [secret, 'whsec_*'], {}],
    ['a tolerance below 0', body, secret, { toleranceMs: -1 }],
    ['a tolerance that is no number', body, secret, { toleranceMs: Number.NaN }],
  ])('says that %s is wrong configuration', (_, raw, key, options) => {
    expect(() => verifyWebhook(raw, signed(), key, { now, ...options })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  })

  it('says in no error what the secret is', () => {
    const bad = 'whsec_not*base64'
    expect(() => verifyWebhook(body, signed(), bad, { now })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('not*base64') }),
    )
  })
})
