import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, it } from 'vitest'
import { isWebhookSecret, webhookSigner } from '../../../src/outgoing/webhook-signer.ts'

const signer = webhookSigner()
const now = () => Math.floor(Date.now() / 1000)
const body = '{"event":"notification.delivered","data":{"to":"å🎉\\u2028"}}'

describe('webhookSigner', () => {
  it('reproduces the published vector', () => {
    // standard-webhooks libraries/javascript webhook.test.ts
    expect(
      signer.headers('msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}', [
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      ]),
    ).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  describe.each([
    ['standardwebhooks', (secret: string) => new Webhook(secret)],
    ['svix', (secret: string) => new SvixWebhook(secret)],
  ])('as the package %s verifies it', (_, receiver) => {
    const secret = signer.newSecret()
    const headers = () => signer.headers('evt_1', now(), body, [secret])

    it('is accepted, text beyond ASCII included', () => {
      expect(receiver(secret).verify(body, headers())).toEqual(JSON.parse(body))
      expect(receiver(secret.slice('whsec_'.length)).verify(Buffer.from(body), headers())).toEqual(
        JSON.parse(body),
      )
    })

    it('is accepted by holders of the old secret and of the new one while it rotates', () => {
      const [newest, old, stranger] = [signer.newSecret(), secret, signer.newSecret()]
      const rotating = signer.headers('evt_1', now(), body, [newest, old])
      expect(receiver(newest).verify(body, rotating)).toBeDefined()
      expect(receiver(old).verify(body, rotating)).toBeDefined()
      expect(() => receiver(stranger).verify(body, rotating)).toThrow()
    })

    it.each<[string, (headers: Record<string, string>) => [string, Record<string, string>]]>([
      ['another body', (given) => [`${body} `, given]],
      ['another id', (given) => [body, { ...given, 'webhook-id': 'evt_2' }]],
      ['another time', (given) => [body, { ...given, 'webhook-timestamp': String(now() - 1) }]],
      ['a truncated signature', (given) => [body, { ...given, 'webhook-signature': 'v1,' }]],
      ['no signature', ({ 'webhook-signature': _signature, ...rest }) => [body, rest]],
    ])('is refused with %s', (_name, tamper) => {
      expect(() => receiver(secret).verify(...tamper(headers()))).toThrow()
    })

    it.each([
      ['too old', -301],
      ['from the future', 301],
    ])('is refused when %s', (_name, shift) => {
      const stale = signer.headers('evt_1', now() + shift, body, [secret])
      expect(() => receiver(secret).verify(body, stale)).toThrow()
    })
  })

  it('makes secrets of 32 bytes that differ', () => {
    const secrets = Array.from({ length: 100 }, () => signer.newSecret())
    expect(new Set(secrets).size).toBe(100)
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
      expect(isWebhookSecret(secret)).toBe(true)
    }
  })
})

describe('isWebhookSecret', () => {
  const of = (size: number) => `whsec_${Buffer.alloc(size, 7).toString('base64')}`

  it.each([24, 25, 26, 32, 64])('accepts %i bytes', (size) => {
    expect(isWebhookSecret(of(size))).toBe(true)
  })

  it.each([0, 23, 65])('refuses %i bytes', (size) => {
    expect(isWebhookSecret(of(size))).toBe(false)
  })

  it.each([undefined, null, 7, '', 'whsec_', of(32).slice(6), ` ${of(32)}`, `${of(32)}\n`, `${of(32)}*`])(
    'refuses %j',
    (value) => {
      expect(isWebhookSecret(value)).toBe(false)
    },
  )
})
