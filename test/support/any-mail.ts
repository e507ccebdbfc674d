import fc from 'fast-check'
import type { MailContent } from '../../adapters/channels/kit/mail/mail-content.ts'
import { composeMail } from '../../adapters/channels/smtp/mime.ts'
import { mimeStream } from '../../adapters/channels/smtp/mime-stream.ts'
import { type Encoders, loadEncoders } from '../../adapters/channels/smtp/nodemailer.ts'
import { finish } from '../../src/core/loop/steps.ts'

/** Of the newest and the oldest nodemailer that package.json allows. */
export const ENCODERS: readonly (readonly [version: string, encoders: Encoders])[] = [
  ['10', await loadEncoders()],
  [
    '7',
    {
      // @ts-expect-error -- this version brings no types
      mime: (await import('nodemailer7/lib/mime-funcs/index.js')).default,
      // @ts-expect-error -- this version brings no types
      quotedPrintable: (await import('nodemailer7/lib/qp/index.js')).default,
    },
  ],
]

export function mailOf(more: Partial<MailContent> = {}): MailContent {
  return {
    from: { name: '', address: 'a@example.org' },
    to: 'ada@example.com',
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Hello',
    text: 'Hi Ada',
    html: null,
    headers: {},
    attachments: [],
    calendar: null,
    messageId: '<1@example.org>',
    ...more,
  }
}

/** A mail as it travels. Characters are bytes. */
export async function composed(content: MailContent, encoders: Encoders): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of mimeStream(finish(composeMail(content, encoders)).pieces, finish))
    chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

/** What mails go wrong over. */
const FRAGMENTS = [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    '\n\n',
    '\t',
    ' ',
    '  ',
    ' \r\n',
    '\t\n',
    '\0',
    '\x1b[0m',
    '\x7f',
    '\u0085',
    '\u2028',
  ],
  ...[
    '.',
    '..',
    '\r\n.\r\n',
    '\n.\n',
    '\r.\r',
    '\n..',
    '--',
    '\r\n-- \r\n',
    '=',
    '=\r\n',
    '=3D',
    '=?',
    '?=',
    '_',
    '%41',
  ],
  ...[
    '=?UTF-8?Q?x?=',
    '=?x?Q?a b?=',
    '"',
    '\\',
    "'",
    '<',
    '>',
    ',',
    ';',
    ':',
    '@',
    '(',
    ')',
    '[',
    ']',
    'a@example.net',
  ],
  ...['\r\nBcc: evil@example.net', '\nX-Evil: 1\n\n', '\r\nFrom ', 'Content-Type: text/html\r\n\r\n'],
  ...[
    'ü',
    'Grüße aus Köln',
    '字',
    '漢字'.repeat(30),
    '𠀀'.repeat(40),
    '🎉',
    '👩‍👩‍👧',
    'é',
    '\u202e',
    '\ud800',
    '\udc00',
    '\ud83d',
  ],
  ...[
    'a word ',
    'long'.repeat(40),
    'x'.repeat(76),
    'x'.repeat(77),
    'x'.repeat(2000),
    'word '.repeat(40),
    ' '.repeat(90),
  ],
  ...['<p>Hi</p>', '<b', '&amp;', '<br>', '</html>', '1'.repeat(999)],
]

const fragment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...FRAGMENTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 80 }) },
)
const anyText = fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join(''))
const anyAddress = fc.constantFrom(
  'ada@example.org',
  "o'hara+tag@example.com",
  '{x}|~!#$%&*/=?^`@example.com',
)
const anyMailbox = fc.record({ name: anyText, address: anyAddress })
const anyHeader = fc.constantFrom('X-Campaign', 'x-unit', 'Auto-Submitted', 'Precedence')

/** A mail of which nothing but the addresses, the media types and the names of headers was checked. */
export const anyMail: fc.Arbitrary<MailContent> = fc.record({
  from: anyMailbox,
  to: anyAddress,
  cc: fc.array(anyMailbox, { maxLength: 3 }),
  bcc: fc.array(anyMailbox, { maxLength: 2 }),
  replyTo: fc.array(anyMailbox, { maxLength: 2 }),
  subject: anyText,
  text: anyText,
  html: fc.option(anyText),
  headers: fc.dictionary(anyHeader, anyText, { maxKeys: 3 }),
  attachments: fc.array(
    fc.record({
      filename: anyText,
      contentType: fc.constantFrom('application/pdf', 'image/png', 'text/plain; charset=utf-8'),
      content: fc.uint8Array({ maxLength: 400 }),
    }),
    { maxLength: 3 },
  ),
  calendar: fc.constant(null),
  messageId: fc.constantFrom(
    '<1@example.org>',
    `<${'n'.repeat(64)}.0a1b2c3d@${'sub.'.repeat(40)}example.org>`,
  ),
})
