import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import { verifyWebhook } from '../../../src/webhook-receiver/index.ts'

// Whatever arrives, the two packages and `verifyWebhook` must accept and refuse alike. The differences that are meant
// are named in docs/reference/events.md and at `meant` below.

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 500)
const SECONDS = Math.floor(NOW / 1000)
const SECRETS = [7, 8, 9].map((byte) => Buffer.alloc(32, byte).toString('base64'))
const [SECRET = '', OLD_SECRET = '', STRANGER = ''] = SECRETS

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
})
afterEach(() => {
  vi.useRealTimers()
})

interface SignedRequest {
  readonly body: string
  readonly headers: Record<string, string>
  readonly secret: string
}

type Verification = { readonly accepted: true; readonly value: unknown } | { readonly accepted: false }

function verification(verify: () => unknown): Verification {
  try {
    return { accepted: true, value: verify() }
  } catch {
    return { accepted: false }
  }
}

function ours(
  { body, headers, secret }: SignedRequest,
  form: 'text' | 'bytes',
): Verification & { code?: string } {
  try {
    const value = verifyWebhook(form === 'text' ? body : Buffer.from(body), headers, secret)
    return { accepted: true, value }
  } catch (error) {
    // Nothing but errors of the catalogue may come out.
    if (!isNotifierError(error)) throw error
    return { accepted: false, code: error.code }
  }
}

/** The packages give whatever the body holds; `verifyWebhook` promises an event. */
function meant(value: unknown): boolean {
  const { event, data } = (value ?? {}) as { event?: unknown; data?: unknown }
  return typeof event !== 'string' || typeof data !== 'object' || data === null
}

function compare(given: SignedRequest, count: Record<string, number>): void {
  const { body, headers, secret } = given
  const reference = verification(() => new Webhook(secret).verify(body, headers))
  const svix = verification(() => new SvixWebhook(secret).verify(body, headers))
  // They differ from one another in one place: standardwebhooks gives undefined for a signed empty body.
  if (body !== '') expect(svix).toEqual(reference)
  for (const form of ['text', 'bytes'] as const) {
    const own = ours(given, form)
    if (reference.accepted && meant(reference.value)) {
      expect(own).toEqual({ accepted: false, code: 'invalid_json' })
      count.meant = (count.meant ?? 0) + 1
      continue
    }
    const { code, ...rest } = own as Verification & { code?: string }
    expect(rest).toEqual(reference)
    const kind = code ?? 'accepted'
    count[kind] = (count[kind] ?? 0) + 1
  }
}

const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: 'binary' }).map((to) => JSON.stringify({ event: 'e.f', data: { to } })),
  },
  { weight: 1, arbitrary: fc.string() },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '{}', 'null', '[]', '{"event":1,"data":{}}', '\ufeff{}', '{"event":"x"'),
  },
)

const timestamp = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(0, 0, 0, -299, -300, -301, 299, 300, 301),
      fc.integer({ min: -1_000, max: 1_000 }),
      fc.constantFrom(-SECONDS, -2 * SECONDS, 1e12),
    ),
    fc.constantFrom(
      (text: string) => text,
      (text: string) => text,
      (text: string) => ` ${text}`,
      (text: string) => `${text} `,
      (text: string) => `${text}abc`,
      (text: string) => `${text}.9`,
      (text: string) => `+${text}`,
      (text: string) => `00${text}`,
      (text: string) => `${text}e1`,
      (text: string) => `0x${text}`,
      (text: string) => `\u00a0${text}`,
      (text: string) => `${text}000`,
      () => '',
      () => 'NaN',
      () => 'Infinity',
    ),
  )
  .map(([offset, write]) => ({ seconds: SECONDS + offset, text: write(String(SECONDS + offset)) }))

/** How one entry of the list of signatures comes about. */
const entry = fc.oneof(
  { weight: 4, arbitrary: fc.constant((sign: Sign) => sign(SECRET)) },
  {
    weight: 5,
    arbitrary: fc.constantFrom<((sign: Sign) => string)[]>(
      (sign) => sign(OLD_SECRET),
      (sign) => sign(STRANGER),
      (sign) => sign(SECRET).replace('v1,', 'v2,'),
      (sign) => sign(SECRET).replace('v1,', 'v1a,'),
      (sign) => sign(SECRET).replace('v1,', 'V1,'),
      (sign) => sign(SECRET).replace('v1,', 'v1'),
      (sign) => sign(SECRET).replace('v1,', ''),
      (sign) => sign(SECRET).slice(0, -1),
      (sign) => sign(SECRET).replace(/=+$/, ''),
      (sign) => `${sign(SECRET)}=`,
      (sign) => `${sign(SECRET)},more`,
      (sign) => `${sign(SECRET)}\t`,
      (sign) => `\t${sign(SECRET)}`,
      (sign) => `${sign(SECRET)}\n`,
      (sign) => sign(SECRET).replaceAll('+', '-').replaceAll('/', '_'),
      (sign) => sign(SECRET).toLowerCase(),
      () => 'v1,',
      () => 'v1',
      () => ',',
      () => '',
    ),
  },
  { weight: 1, arbitrary: fc.string().map((text) => () => text) },
)
type Sign = (secret: string) => string

const separator = fc.constantFrom(' ', ' ', ' ', '  ', ', ', '\t')

/** What happens to the headers on the way. */
const tamper = fc.oneof(
  { weight: 4, arbitrary: fc.constant((headers: Record<string, string>) => headers) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('id', 'timestamp', 'signature'),
        fc.constantFrom('drop', 'empty', 'upper', 'twice'),
      )
      .map(([which, how]) => (headers: Record<string, string>) => {
        const name = `webhook-${which}`
        const { [name]: value = '', ...rest } = headers
        if (how === 'drop') return rest
        if (how === 'empty') return { ...headers, [name]: '' }
        if (how === 'upper') return { ...rest, [name.toUpperCase()]: value }
        return { ...headers, [name.toUpperCase()]: `${value}x` }
      }),
  },
)

const given = fc
  .record({
    body: event,
    signedBody: fc.constantFrom('', '', '', '', '', ' ', 'x', '\u0000'),
    id: fc.oneof(fc.constant('evt_1_2'), fc.string({ unit: 'binary' })),
    timestamp,
    signatures: fc.array(fc.tuple(separator, entry), { maxLength: 5 }),
    tamper,
    prefixed: fc.boolean(),
  })
  .map(
    ({
      body,
      signedBody,
      id,
      timestamp: { seconds, text },
      signatures,
      tamper: change,
      prefixed,
    }): SignedRequest => {
      const sign: Sign = (secret) =>
        new Webhook(secret).sign(id, new Date(seconds * 1000), `${body}${signedBody}`)
      const list = signatures.map(([space, make], at) => `${at === 0 ? '' : space}${make(sign)}`).join('')
      const headers = change({ 'webhook-id': id, 'webhook-timestamp': text, 'webhook-signature': list })
      return { body, headers, secret: prefixed ? `whsec_${SECRET}` : SECRET }
    },
  )

it('accepts and refuses what standardwebhooks and svix accept and refuse', () => {
  const count: Record<string, number> = {}
  fc.assert(
    fc.property(given, (each) => compare(each, count)),
    { numRuns: 2_000 },
  )
  // Each way to end was taken often: a generator that only makes refusals would prove little.
  for (const kind of [
    'accepted',
    'invalid_webhook_signature',
    'webhook_timestamp_out_of_range',
    'invalid_json',
    'meant',
  ]) {
    expect(count[kind], kind).toBeGreaterThan(10)
  }
})

it('refuses when one character of what is signed, of the signature or of the secret is another', () => {
  const body = JSON.stringify({ event: 'notification.sent', data: { to: 'ada@example.com' } })
  const count: Record<string, number> = {}
  const place = fc.constantFrom('body', 'id', 'timestamp', 'signature', 'secret')
  fc.assert(
    fc.property(place, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (where, at, by) => {
      const swap = (text: string): string => {
        const index = at % text.length
        return `${text.slice(0, index)}${by}${text.slice(index + 1)}`
      }
      const signature = new Webhook(SECRET).sign('evt_1_2', new Date(SECONDS * 1000), body)
      compare(
        {
          body: where === 'body' ? swap(body) : body,
          headers: {
            'webhook-id': where === 'id' ? swap('evt_1_2') : 'evt_1_2',
            'webhook-timestamp': where === 'timestamp' ? swap(String(SECONDS)) : String(SECONDS),
            'webhook-signature': where === 'signature' ? swap(signature) : signature,
          },
          secret: where === 'secret' ? swap(SECRET) : SECRET,
        },
        count,
      )
    }),
    { numRuns: 1_000 },
  )
  expect(count.invalid_webhook_signature).toBeGreaterThan(300)
})

it('takes and refuses secrets as the packages do', () => {
  const body = '{"event":"e","data":{}}'
  const character = fc.constantFrom(...'AZaz09+/', '=', '-', '_', ' ', '*', 'é', '\n')
  const secret = fc.oneof(
    fc.string({ unit: character, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'ABCDwxyz+/'), maxLength: 90 }),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  )
  let accepted = 0
  let refused = 0
  fc.assert(
    fc.property(secret, fc.constantFrom('', 'whsec_', 'whsec_whsec_'), (text, prefix) => {
      // Meant: the packages ignore a last character that holds no byte, here it tells of a secret that was cut.
      fc.pre(text.replace(/=+$/, '').length % 4 !== 1)
      const at = new Date(SECONDS * 1000)
      const reference = verification(() => new Webhook(prefix + text).sign('evt_1', at, body))
      const signature = reference.accepted
        ? String(reference.value)
        : new Webhook(SECRET).sign('evt_1', at, body)
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(SECONDS),
        'webhook-signature': signature,
      }
      const own = ours({ body, headers, secret: prefix + text }, 'text')
      expect(own.accepted ? own.accepted : own.code).toBe(reference.accepted || 'invalid_configuration')
      if (own.accepted) accepted += 1
      else refused += 1
    }),
    { numRuns: 1_000 },
  )
  expect(Math.min(accepted, refused)).toBeGreaterThan(100)
})
