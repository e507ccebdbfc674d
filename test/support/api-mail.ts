import type { Message } from '../../src/core/ports/provider.ts'
import type { TakenMail } from '../../src/testing/provider-contract.ts'

/** A mail with everything that a mail may carry, in characters of all kinds. */
export const FULL_MAIL: Message = {
  to: 'ada@bücher.example',
  subject: 'Grüße 🎉',
  body: '<h1>Grüße</h1><p>Hi Ada, <a href="https://example.org/?a=1&amp;b=2">start here</a>.</p>',
  format: 'html',
  email: {
    replyTo: [{ address: 'answers@bücher.example' }],
    headers: { 'X-Campaign': 'spring', 'X-Unit': 'Büro' },
    unsubscribeUrl: 'https://example.org/u?t=1',
    attachments: [
      {
        filename: 'Größe.pdf',
        contentType: 'application/pdf',
        content: new Uint8Array([0, 1, 2, 253, 254, 255]),
      },
    ],
  },
}

/** An invitation of the method REQUEST. */
export const INVITATION = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Acme//Calendar//EN',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:1@acme.example',
  'DTSTAMP:20260101T000000Z',
  'DTSTART:20260102T090000Z',
  'DTEND:20260102T100000Z',
  'SUMMARY:Grüße',
  'ORGANIZER:mailto:news@acme.example',
  'ATTENDEE;RSVP=TRUE:mailto:ada@example.com',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')

/** A mail with a sender, copies, an inline image and an invitation of its own. */
export const SHARED_MAIL: Message = {
  ...FULL_MAIL,
  email: {
    from: { name: 'Büro, Acme', address: 'news@acme.example' },
    replyTo: [{ name: 'Help', address: 'help@acme.example' }, { address: 'sales@acme.example' }],
    cc: [{ name: 'Bob', address: 'bob@bücher.example' }, { address: 'ADA@xn--bcher-kva.example' }],
    bcc: [{ address: 'carl@example.com' }, { address: 'bob@xn--bcher-kva.example' }],
    attachments: [
      { filename: 'logo.png', contentType: 'image/png', cid: 'logo@acme', content: new Uint8Array([1, 2]) },
    ],
    calendar: { method: 'REQUEST', content: INVITATION },
  },
}

/** What {@link FULL_MAIL} must have become. */
export const FULL_TEXT = 'Grüße\n\nHi Ada, start here (https://example.org/?a=1&b=2).'
export const FULL_TO = 'ada@xn--bcher-kva.example'
export const FULL_REPLY_TO = 'answers@xn--bcher-kva.example'
export const FULL_FILE = 'AAEC/f7/'
export const FULL_HEADERS = {
  'Auto-Submitted': 'auto-generated',
  'X-Campaign': 'spring',
  'X-Unit': '=?UTF-8?B?QsO8cm8=?=',
  'List-Unsubscribe': '<https://example.org/u?t=1>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
}

/** The files in a request of an API, by the names of its fields. The content is base64. */
export function takenFiles(
  files: readonly Readonly<Record<string, string>>[] = [],
  ...[filename, contentType, content]: readonly [filename: string, contentType: string, content: string]
): TakenMail['attachments'] {
  return files.map((file) => ({
    filename: file[filename] ?? '',
    contentType: file[contentType] ?? '',
    content: Buffer.from(file[content] ?? '', 'base64'),
  }))
}

/** The mail in a message that a provider keeps as it is. */
export function takenMail({ body, format, text, email }: Message): TakenMail {
  const addressesOf = (list: readonly { readonly address: string }[] = []) =>
    list.map(({ address }) => address)
  return {
    cc: addressesOf(email?.cc),
    bcc: addressesOf(email?.bcc),
    replyTo: addressesOf(email?.replyTo),
    text: format === 'text' ? body : (text ?? null),
    html: format === 'html' ? body : null,
    attachments: email?.attachments ?? [],
  }
}
