import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeOfReply, refusalOf } from '../../../../adapters/channels/kit/smtp/refusal.ts'
import { parseReply } from '../../../../adapters/channels/kit/smtp/reply.ts'

/* Replies of real mail servers, and what must hold for any reply. Who is suppressed by mistake gets no more mails. */

const FOLDER = new URL('../../../fixtures/smtp-replies/', import.meta.url)

interface Row {
  readonly meaning: string
  readonly reply: string
}

function rowsOf(file: string): readonly Row[] {
  return readFileSync(new URL(file, FOLDER), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [meaning = ''] = line.split(' ')
      return { meaning, reply: line.slice(meaning.length + 1) }
    })
}

function meaningOf(reply: string, command = 'RCPT TO'): string {
  const outcome = refusalOf(parseReply(reply), command)
  if (outcome.kind !== 'rejected' && outcome.kind !== 'retry') return outcome.kind
  return `${outcome.kind === 'retry' ? '~' : ''}${outcome.code}/${outcome.scope}`
}

const files = readdirSync(FOLDER)

describe.each(files)('the replies of %s', (file) => {
  it.each(rowsOf(file))('$reply', ({ meaning, reply }) => {
    expect(meaningOf(reply)).toBe(meaning)
  })
})

const all = files.flatMap(rowsOf)

it('are several hundred', () => {
  expect(all.length).toBeGreaterThan(500)
})

/** The texts that suppress. */
const DENIALS = all
  .filter(({ meaning }) => meaning === 'invalid_recipient/recipient')
  .map(({ reply }) => reply)

describe('a text that denies the mailbox', () => {
  it.each(DENIALS)('suppresses after the content too, and in reports: %s', (reply) => {
    expect(meaningOf(reply, 'DATA')).toBe('invalid_recipient/recipient')
    expect(codeOfReply(reply)).toBe('invalid_recipient')
    expect(codeOfReply(`smtp; ${reply}`, 'invalid_recipient')).toBe('invalid_recipient')
  })

  it.each([
    '192.0.2.25 has sent to too many recipients this hour',
    'sending limit exceeded',
    'Rate limit exceeded',
    'your daily quota is used up',
    'rejected by policy',
    'blocked by our security policy',
    'poor reputation of the sending IP',
    'Client host [192.0.2.25] blocked using zen.spamhaus.org',
    'listed at dnsbl.example.org',
    'Relay access denied',
    'relaying denied',
    'DNS lookup failed',
    'no reverse DNS record',
    'Authentication required',
    'SPF check failed',
    'banned sending IP',
    'unusual sending activity',
    'greylisted',
    'does not pass DMARC verification',
  ])('never suppresses if it also says: %s', (speaks) => {
    for (const code of [
      '550',
      '550 5.1.1',
      '553 5.1.10',
      '554 5.2.1',
      '550 5.1.351',
      '550 5.4.1',
      '550 5.7.1',
    ]) {
      for (const text of [
        speaks,
        `<ada@example.com> ${speaks}`,
        `No such user; ${speaks}`,
        `${speaks}: user unknown`,
      ]) {
        const reply = `${code} ${text}`
        for (const command of ['MAIL FROM', 'RCPT TO', 'DATA'])
          expect(meaningOf(reply, command), reply).not.toMatch(/^invalid_recipient/)
        expect(codeOfReply(reply), reply).not.toBe('invalid_recipient')
        expect(codeOfReply(reply, 'invalid_recipient'), reply).not.toBe('invalid_recipient')
      }
    }
  })
})

describe('an address in a reply', () => {
  const WORDS = [
    'limit',
    'policy',
    'relay',
    'dns',
    'quota',
    'spam',
    'no-such-user',
    'blocked',
    'spf',
    'unknown',
  ]
  const address = fc
    .tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS), fc.boolean())
    .map(([local, host, quoted]) =>
      quoted ? `"no such user ${local} exceeded"@${host}.example` : `${local}@${host}.example`,
    )
  const frames: readonly ((text: string) => string)[] = [
    (text) => `<${text}>`,
    (text) => text,
    (text) => `[${text}]:`,
    (text) => `'${text}'`,
    (text) => `(${text})`,
  ]

  it('never decides', () => {
    const texts = [
      ['550 5.1.1', 'User unknown', 'invalid_recipient/recipient'],
      ['550 5.2.0', 'Message refused', 'blocked_recipient/recipient'],
      ['550', 'Refused', 'blocked_recipient/recipient'],
      ['554 5.7.1', 'Relay access denied', 'provider_auth_failed/account'],
      ['452 4.2.2', 'Mailbox full', '~mailbox_full/recipient'],
    ] as const
    fc.assert(
      fc.property(
        address,
        fc.constantFrom(...frames),
        fc.constantFrom(...texts),
        (given, frame, [code, text, meaning]) => {
          const expected = code === '550 5.2.0' ? meaningOf('550 5.2.0 Message refused') : meaning
          expect(meaningOf(`${code} ${frame(given)} ${text}`)).toBe(expected)
        },
      ),
    )
  })

  it('may be as long as a reply', () => {
    for (const text of [
      'a'.repeat(200_000),
      '<'.repeat(100_000),
      '"'.repeat(100_000),
      'a.'.repeat(100_000),
    ]) {
      expect(meaningOf(`550 5.1.1 ${text}@example.com`)).toBe('invalid_recipient/recipient')
    }
  })
})
