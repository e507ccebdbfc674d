import { describe, expect, it } from 'vitest'
import { MAX_ATTACHMENT_BYTES } from '../../../../src/core/channels/email-files.ts'
import { decodedLength } from '../../../../src/core/channels/file-content.ts'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { parseInput } from '../../../../src/core/input/parse.ts'
import { INVITATION } from '../../../support/api-mail.ts'
import { SEND_INPUT } from '../../../support/kinds.ts'

const base64 = (bytes: number) => Buffer.alloc(bytes, 'x').toString('base64')
const file = { filename: 'a.pdf', contentType: 'application/pdf', content: base64(3) }
const send = { channel: 'email', to: 'ada@example.com', body: 'Hello' }
const many = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index))

/** The code and the field of the fault; null: there is none. */
function fault(parts: object): string | null {
  try {
    parseInput(sendInput, { ...send, ...parts })
    return null
  } catch (error) {
    if (!isNotifierError(error)) throw error
    return `${error.code} ${String(error.details?.field)}`
  }
}

const sendInput = SEND_INPUT

describe('what a message carries beside its text', () => {
  it('is taken as it is', () => {
    const parts = {
      email: {
        replyTo: 'help@example.com',
        headers: { 'X-Campaign': 'Grüße', 'list-id': '' },
        attachments: [file, { ...file, filename: 'Größe 2.pdf', contentType: 'text/plain; charset=utf-8' }],
        unsubscribe: true,
      },
      push: { data: { url: '/a', n: '' } },
      slack: { blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '{{name}}' } }] },
    }
    const stored = { ...parts, email: { ...parts.email, replyTo: [{ address: 'help@example.com' }] } }
    expect(parseInput(sendInput, { ...send, ...parts })).toEqual({ ...send, ...stored })
  })

  it('names the invalid entry of a list of mailboxes', () => {
    const email = { bcc: ['a@example.com', 'nobody'] }
    expect(() => parseInput(sendInput, { ...send, email })).toThrow(/"email\.bcc\.1": must be/)
  })

  it('names mailboxes in three ways, alone or in a list', () => {
    const mail = {
      from: 'Acme <News@acme.example>',
      replyTo: ['"Help, please" <help@example.com>', { address: 'b@example.com', name: '' }],
      cc: { name: 'Ada', address: 'ada@bücher.example' },
      bcc: ['c@example.com'],
    }
    expect(parseInput(sendInput, { ...send, email: mail }).email).toEqual({
      from: { name: 'Acme', address: 'News@acme.example' },
      replyTo: [{ name: 'Help, please', address: 'help@example.com' }, { address: 'b@example.com' }],
      cc: [{ name: 'Ada', address: 'ada@bücher.example' }],
      bcc: [{ address: 'c@example.com' }],
    })
  })

  it.each<[string, object]>([
    ['nothing', {}],
    ['fifty copies', { email: { cc: many(50, (n) => `a${n}@example.com`) } }],
    ['an invitation', { email: { calendar: { method: 'REQUEST', content: INVITATION } } }],
    ['empty parts', { email: {}, push: {} }],
    ['ten attachments', { email: { attachments: many(10, () => file) } }],
    ['7 MiB', { email: { attachments: [{ ...file, content: base64(MAX_ATTACHMENT_BYTES) }] } }],
    ['twenty headers', { email: { headers: Object.fromEntries(many(20, (n) => [`X-${n}`, 'x'])) } }],
    ['4 KB of data', { push: { data: { k: 'x'.repeat(4_095) } } }],
    ['fifty blocks', { slack: { blocks: many(50, () => ({ type: 'divider' })) } }],
  ])('takes %s', (_name, parts) => {
    expect(fault(parts)).toBeNull()
  })

  const email = (parts: object) => ({ email: parts })
  const attached = (change: object) => email({ attachments: [{ ...file, ...change }] })
  it.each<[string, object, string]>([
    ['an unknown part', email({ reply_to: 'a@example.com' }), 'email'],
    ['a list', { email: [] }, 'email'],
    ['a reply address that is a list', email({ replyTo: 'a@example.com, b@example.com' }), 'email.replyTo'],
    [
      'a reply address with a line break',
      email({ replyTo: 'a@example.com\r\nBcc: b@x.org' }),
      'email.replyTo',
    ],
    ['a sender without an address', email({ from: 'Ada' }), 'email.from'],
    ['two senders', email({ from: 'a@example.com, b@example.com' }), 'email.from'],
    ['a list of senders', email({ from: ['a@example.com'] }), 'email.from'],
    [
      'a sender with a second header',
      email({ from: { name: 'A\r\nBcc: b@x.org', address: 'a@x.org' } }),
      'email.from',
    ],
    [
      'a name of half a character',
      email({ from: { name: '\ud800', address: 'a@x.org' } }),
      'email.from.name',
    ],
    [
      'a mailbox with an unknown field',
      email({ cc: [{ address: 'a@example.com', type: 'to' }] }),
      'email.cc.0',
    ],
    ['no copies', email({ cc: [] }), 'email.cc'],
    ['51 copies', email({ cc: many(51, (n) => `a${n}@example.com`) }), 'email.cc'],
    ['51 blind copies', email({ bcc: many(51, (n) => `a${n}@example.com`) }), 'email.bcc'],
    ['eleven addresses for replies', email({ replyTo: many(11, () => 'a@example.com') }), 'email.replyTo'],
    ['an invalid copy', email({ bcc: ['a@example.com', 'nobody'] }), 'email.bcc.1'],
    ['a copy of a quoted local part', email({ cc: '"a b"@example.com' }), 'email.cc'],
    [
      'a copy of mail that can be unsubscribed',
      email({ cc: 'a@example.com', unsubscribe: true }),
      'email.unsubscribe',
    ],
    ['a blind copy of it', email({ bcc: 'a@example.com', unsubscribe: true }), 'email.unsubscribe'],
    ['a content id with a bracket', attached({ cid: 'a>' }), 'email.attachments.0.cid'],
    [
      'a content id twice',
      email({ attachments: many(2, () => ({ ...file, cid: 'logo' })) }),
      'email.attachments',
    ],
    [
      'an invitation of another method',
      email({ calendar: { method: 'CANCEL', content: INVITATION } }),
      'email.calendar.content',
    ],
    [
      'an invitation that is a page',
      email({ calendar: { method: 'REQUEST', content: '<html>' } }),
      'email.calendar.content',
    ],
    [
      'an unknown method',
      email({ calendar: { method: 'REFRESH', content: INVITATION } }),
      'email.calendar.method',
    ],
    ['21 headers', email({ headers: Object.fromEntries(many(21, (n) => [`X-${n}`, 'x'])) }), 'email.headers'],
    [
      'too many headers before each is checked',
      email({ headers: Object.fromEntries(many(21, (n) => [n, n])) }),
      'email.headers',
    ],
    ['a header of mail itself', email({ headers: { Bcc: 'eve@example.com' } }), 'email.headers'],
    ['… in another case', email({ headers: { 'content-TYPE': 'text/html' } }), 'email.headers'],
    ['… that is ours', email({ headers: { 'List-Unsubscribe': '<https://x>' } }), 'email.headers'],
    ['a header twice', email({ headers: { 'X-A': '1', 'x-a': '2' } }), 'email.headers'],
    ['a header name with a colon', email({ headers: { 'X: y': '1' } }), 'email.headers'],
    ['a header with a line break', email({ headers: { 'X-A': '1\r\nBcc: eve@x.org' } }), 'email.headers.X-A'],
    ['a header with a separator of lines', email({ headers: { 'X-A': '1\u2028' } }), 'email.headers.X-A'],
    ['a header that is too long', email({ headers: { 'X-A': 'x'.repeat(901) } }), 'email.headers.X-A'],
    ['a header that is no text', email({ headers: { 'X-A': 1 } }), 'email.headers.X-A'],
    ['eleven attachments', email({ attachments: many(11, () => file) }), 'email.attachments'],
    ['a path', attached({ filename: '../a.pdf' }), 'email.attachments.0.filename'],
    ['a path of Windows', attached({ filename: 'C:\\a.pdf' }), 'email.attachments.0.filename'],
    ['a folder', attached({ filename: '..' }), 'email.attachments.0.filename'],
    ['a control character', attached({ filename: 'a\n.pdf' }), 'email.attachments.0.filename'],
    ['a name that reads backwards', attached({ filename: 'a\u202efdp.exe' }), 'email.attachments.0.filename'],
    ['a name of half a character', attached({ filename: 'a\ud800' }), 'email.attachments.0.filename'],
    ['no name', attached({ filename: '' }), 'email.attachments.0.filename'],
    ['no media type', attached({ contentType: 'pdf' }), 'email.attachments.0.contentType'],
    [
      'a media type with a line break',
      attached({ contentType: 'a/b\r\nX: y' }),
      'email.attachments.0.contentType',
    ],
    ['base64 without padding', attached({ content: 'YQ' }), 'email.attachments.0.content'],
    ['base64 with spare bits', attached({ content: 'YR==' }), 'email.attachments.0.content'],
    ['base64url', attached({ content: '-_-_' }), 'email.attachments.0.content'],
    ['base64 on two lines', attached({ content: 'YWJj\nYWJj' }), 'email.attachments.0.content'],
    ['an empty file', attached({ content: '' }), 'email.attachments.0.content'],
    ['text for bytes', attached({ content: 'hello!!!' }), 'email.attachments.0.content'],
    [
      'more than 7 MiB in all',
      email({ attachments: [file, { ...file, content: base64(MAX_ATTACHMENT_BYTES - 2) }] }),
      'email.attachments',
    ],
    ['an unsubscription that is no flag', email({ unsubscribe: 'https://x.org' }), 'email.unsubscribe'],
    ['data that is no text', { push: { data: { n: 1 } } }, 'push.data.n'],
    ['data of more than 4 KB', { push: { data: { ключ: 'x'.repeat(4_089) } } }, 'push.data'],
    [
      'too much data before each value is checked',
      { push: { data: Object.fromEntries(many(4_097, (n) => [n, n])) } },
      'push.data',
    ],
    ['data of APNs', { push: { data: { aps: '{}' } } }, 'push.data'],
    ['data of FCM', { push: { data: { 'google.x': '1' } } }, 'push.data'],
    ['no blocks', { slack: { blocks: [] } }, 'slack.blocks'],
    ['51 blocks', { slack: { blocks: many(51, () => ({ type: 'divider' })) } }, 'slack.blocks'],
    ['a block that is a text', { slack: { blocks: ['x'] } }, 'slack.blocks.0'],
    ['blocks with too many bytes', { slack: { blocks: [{ text: 'é'.repeat(50_000) }] } }, 'slack.blocks'],
    ['blocks of any size', { slack: { blocks: [{ text: 'x'.repeat(100_000) }] } }, 'slack.blocks'],
    ['a block with a function', { slack: { blocks: [{ text: () => 'x' }] } }, 'slack.blocks.0'],
  ])('refuses %s', (_name, parts, field) => {
    expect(fault(parts)).toBe(`invalid_parameter ${field}`)
  })

  it('takes a calendar of 256 KiB, and no more', () => {
    const around = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nX-NOTE:\r\nEND:VCALENDAR\r\n'
    const calendar = (bytes: number) => {
      const note = 'é'.repeat((bytes - around.length) / 2)
      return { email: { calendar: { method: 'REQUEST', content: around.replace('NOTE:', `NOTE:${note}`) } } }
    }
    const most = 262_144 - (around.length % 2)
    expect(fault(calendar(most))).toBeNull()
    expect(fault(calendar(most + 2))).toBe('invalid_parameter email.calendar.content')
  })

  it('tells the size of a file', () => {
    for (const bytes of [1, 2, 3, 4, 100]) expect(decodedLength(base64(bytes))).toBe(bytes)
  })
})
