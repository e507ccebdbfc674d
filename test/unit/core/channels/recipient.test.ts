import fc from 'fast-check'
import validator from 'validator'
import { describe, expect, it } from 'vitest'
import { type ChannelKind, defineChannel } from '../../../../src/core/channels/channel-kind.ts'
import { isPlainEmail } from '../../../../src/core/channels/email-address.ts'
import { assertRecipient, suppressedAddress } from '../../../../src/core/channels/recipient.ts'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { ERASED_ADDRESS } from '../../../../src/core/notification/erased-fact.ts'
import { CHANNELS, kindOf } from '../../../support/kinds.ts'

function refusal(channel: string, to: string): string | null {
  try {
    assertRecipient(kindOf(channel), to)
    return null
  } catch (error) {
    if (!isNotifierError(error)) throw error
    expect(error.details).toMatchObject({ field: 'to', channel })
    return error.code
  }
}

it.each(CHANNELS)('%s refuses the address of erased people', (channel) => {
  expect(refusal(channel, ERASED_ADDRESS)).not.toBeNull()
})

describe('sms', () => {
  it.each([
    '+14155550123',
    '+15551234567', // possible, although no valid pattern
    '+15005550006', // the provider's test number
    '+442079460958', // a landline: whether it can receive is the provider's to say
    '+551161234567',
    '+80012345678',
    '+886912345678',
  ])('takes %s', (to) => {
    expect(refusal('sms', to)).toBeNull()
  })

  it.each([
    '14155550123',
    '0014155550123',
    '+04155550123',
    '+12',
    '+99912345678',
    '+1 415 555 0123',
    '+1-415-555-0123',
    '+1(415)5550123',
    '+1-800-FLOWERS',
    '＋１４１５５５５０１２３',
    '+１４１５５５５０１２３',
    'Call +14155550123 now',
    '+14155550123;ext=5',
    '+14155550123\n',
    '\n+14155550123',
    '+14155550123,+14155550124',
    '+1415555012345678',
    '+',
    '',
    '+11234567890', // no area code begins with 1
    '+10125550100',
    '+4407911123456', // the same phone as +447911123456
    '+789991234567',
  ])('refuses %j', (to) => {
    expect(refusal('sms', to)).toBe('invalid_phone')
  })
})

describe('email', () => {
  it.each([
    'ada@example.com',
    'Ada.Lovelace+tag@Example.COM',
    "o'hara@example.com",
    'a@bücher.de',
    'a@BÜCHER.de',
    'a@xn--bcher-kva.de',
    'a@straße.de',
    'a@例子.广告',
    'a@xn--fsqu00a.xn--4rr70v',
    '!#$%&*+/=?^_`{|}~-@example.com',
    `${'a'.repeat(64)}@example.com`,
  ])('takes %s', (to) => {
    expect(refusal('email', to)).toBeNull()
  })

  it.each([
    'ada',
    '@example.com',
    'ada@',
    'ada@example',
    'ada@example.c',
    'ada@example.123',
    'ada@exa mple.com',
    'ada@example.com.',
    'ada@-example.com',
    'ada@exam_ple.com',
    'ada@[127.0.0.1]',
    'ada@127.0.0.1',
    'ada..b@example.com',
    '.ada@example.com',
    'ada.@example.com',
    '"a b"@example.com',
    '"<script>"@example.com',
    'ü@example.com',
    '用户@例子.广告',
    'Ada <ada@example.com>',
    '<ada@example.com>',
    'ada@example.com,eve@example.com',
    'ada@example.com;eve@example.com',
    'ada@example.com eve@example.com',
    ' ada@example.com',
    'ada@example.com ',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\nBcc: eve@example.com',
    'b@x.com\r\nBcc: evil@x.com',
    'ada\u0000@example.com',
    'ada@example.com\u0000',
    'ada\u2028@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'ü'.repeat(60)}.com`, // 63 characters are too few for its punycode
    'ada@exam\u200bple.com',
    'ada@exam\u00adple.com',
    'ada@exam\u202eple.com',
    'ada@exam\u2066ple.com',
    'ada@exam\u200dple.com',
    'ada@exam\u2060ple.com',
    'ada@exam\ufeffple.com',
    'ada@exam\u034fple.com',
    'ada@exam\ufe0fple.com',
    'ada@exam\u3164ple.com',
    'ada@exam\u{e0061}ple.com',
    'ada@ｅxample.com',
    'ada@example。com',
    'ada@mail．example.com',
    'ada@mail｡example.com',
    'ada@xn--zzzzzz99999.com',
    'ada@xn--a.com',
    'ada@XN--0.com',
    'ada@xn--example.xn--p1ai',
    'ada@mail.xn--.com',
    `ada@${'a.'.repeat(130)}com`,
    'mailto:ada@example.com',
    '',
  ])('refuses %j', (to) => {
    expect(refusal('email', to)).toBe('invalid_email')
  })
})

describe('slack', () => {
  it.each([
    'C0123ABCD',
    'G0123ABCD',
    'D0123ABCD',
    'U0123ABCD',
    'W0123ABCD',
    '#general',
    '#größe',
    '@ada',
    'general',
  ])('takes %s', (to) => {
    expect(refusal('slack', to)).toBeNull()
  })

  it.each([
    '',
    '#',
    '#a b',
    '#a<b',
    '<!channel>',
    '#<!channel>',
    'C012 3',
    '#a\nb',
    '#a,b',
    '#a&b',
    '@',
    'X0123ABCD',
  ])('refuses %j', (to) => {
    expect(refusal('slack', to)).toBe('invalid_recipient')
  })
})

describe('webhook', () => {
  it.each(['https://example.com/hook?x=1', 'https://example.com:8443/'])('takes %s', (to) => {
    expect(refusal('webhook', to)).toBeNull()
  })

  it.each([
    'example.com',
    '//example.com',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'https://example.com/\r\nX: y',
    'https://',
    `https://example.com/${'a'.repeat(2048)}`,
    '',
  ])('refuses %j', (to) => {
    expect(refusal('webhook', to)).toBe('invalid_recipient')
  })
})

describe('push', () => {
  it('takes any token on one line, and leaves its form to the providers', () => {
    expect(refusal('push', 'dGhpcyBpcyBhIHRva2Vu:APA91b')).toBeNull()
    expect(refusal('push', '{"endpoint":"https://push.example.com/x"}')).toBeNull()
  })

  it.each([' token', 'token ', 'to\nken', 'to\u0000ken', '\uD800', 'a'.repeat(4097)])('refuses %j', (to) => {
    expect(refusal('push', to)).toBe('invalid_recipient')
  })
})

it('answers for every text, and never lets a line break or NUL through', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(
      fc.constantFrom(...CHANNELS),
      text,
      fc.constantFrom('\r', '\n', '\0'),
      (channel, part, control) => {
        refusal(channel, part)
        expect(refusal(channel, `${part}${control}`)).not.toBeNull()
        expect(refusal(channel, `ada@example.com${control}${part}`)).not.toBeNull()
      },
    ),
  )
})

describe('the short cut for plain addresses', () => {
  const STRICT = { allow_utf8_local_part: false, allow_display_name: false, require_tld: true }
  const word = fc.stringMatching(/^[A-Za-z0-9_+.-]{1,70}$/)
  const label = fc.stringMatching(/^[A-Za-z0-9-]{1,66}$/)

  it('takes nothing that validator refuses', () => {
    let taken = 0
    const near = fc
      .tuple(word, fc.array(label, { minLength: 1, maxLength: 3 }), fc.stringMatching(/^[a-z]{1,4}$/))
      .map(([local, labels, last]) => `${local}@${[...labels, last].join('.')}`)
    const mutated = fc
      .tuple(near, fc.nat(), fc.string({ unit: 'binary', maxLength: 2 }))
      .map(([address, at, piece]) => {
        const place = at % (address.length + 1)
        return address.slice(0, place) + piece + address.slice(place)
      })
    fc.assert(
      fc.property(fc.oneof(near, mutated, fc.emailAddress(), fc.string()), (address) => {
        if (!isPlainEmail(address)) return
        taken += 1
        expect(validator.isEmail(address, STRICT), address).toBe(true)
      }),
      { numRuns: 5_000 },
    )
    expect(taken).toBeGreaterThan(200)
  })

  it('is taken by ordinary addresses', () => {
    for (const address of ['ada@example.com', 'a.b+tag@mail.example.co.uk', 'O_1-x@xn-bcher-kva.de']) {
      expect(isPlainEmail(address), address).toBe(true)
    }
  })

  it('needs no more time for hostile input', () => {
    const hostile = [`${'a.'.repeat(60)}@x`, `a@${'a-'.repeat(60)}`, `a@${'a.'.repeat(60)}1`]
    for (const address of hostile) expect(isPlainEmail(address)).toBe(false)
  })
})

const pager = { name: 'pager', recipient: 'a pager number' }

describe('a hook of a kind that returns a wrong result', () => {
  const refused = (hook: string) =>
    expect.objectContaining({
      code: 'invalid_configuration',
      message: expect.stringContaining(`"pager": ${hook}() must return`),
    })

  it.each([undefined, null, '', 5, Promise.resolve('x')])('is refused: canonical, %o', (result) => {
    const kind = { ...pager, canonical: () => result } as unknown as ChannelKind
    expect(() => suppressedAddress(kind, '5550123')).toThrow(refused('canonical'))
  })

  it.each([undefined, true, false, Promise.resolve(null)])('is refused: checkRecipient, %o', (result) => {
    const kind = { ...pager, checkRecipient: () => result } as unknown as ChannelKind
    expect(() => assertRecipient(kind, '5550123')).toThrow(refused('checkRecipient'))
  })
})

describe('defineChannel refuses', () => {
  it.each<[string, object]>([
    ['canonicalize', { canonicalize: () => '' }],
    ['canonical', { canonical: 'x' }],
    ['name', { name: 'Pager' }],
    ['name', { name: 'constructor' }],
    ['name', { name: 'body' }],
    ['recipient', { recipient: '' }],
    ['parts', { parts: {} }],
  ])('a wrong %s: %o', (option, wrong) => {
    expect(() => defineChannel({ ...pager, ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option } }),
    )
  })

  it('nothing else', () => {
    expect(defineChannel(pager)).toBe(pager)
  })
})
