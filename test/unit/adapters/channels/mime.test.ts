import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { describe, expect, it } from 'vitest'
import { htmlToText } from '../../../../adapters/channels/kit/mail/html-to-text.ts'
import type { MailContent } from '../../../../adapters/channels/kit/mail/mail-content.ts'
import { isMail, mailContent } from '../../../../adapters/channels/kit/mail/mail-content.ts'
import { composeMail } from '../../../../adapters/channels/smtp/mime.ts'
import type { Encoders } from '../../../../adapters/channels/smtp/nodemailer.ts'
import { finish } from '../../../../src/core/loop/steps.ts'
import { anyMail, composed, ENCODERS, mailOf } from '../../../support/any-mail.ts'

const refuse = (): never => {
  throw new Error('nothing needed to be encoded')
}
/** For mails that must get along without. */
const NONE: Encoders = {
  mime: { encodeWord: refuse, foldLines: refuse },
  quotedPrintable: { encode: refuse, wrap: refuse },
}

const frame = {
  from: { name: 'Ada, "Countess"', address: 'ada@example.org' },
  senders: new Set<string>(),
  replyTo: null,
  headers: {},
  toText: () => 'text',
}
const undated = (source: string): string =>
  source.replace(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/m, 'Date: now')
/** The lines of a head with those that are one header joined. */
const headersOf = (source: string): string[] =>
  source
    .slice(0, source.indexOf('\r\n\r\n'))
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')

describe('composeMail', () => {
  it('writes a plain mail without encoding anything', async () => {
    const message = { to: 'bob@bücher.example', subject: 'Hi', body: 'Hello\nBob', format: 'text' } as const
    const content = finish(mailContent(frame, message, 'notif_1', htmlToText))
    expect.assert(isMail(content))
    expect(undated(await composed(content, NONE)).split('\r\n')).toEqual([
      'Auto-Submitted: auto-generated',
      'From: "Ada, \\"Countess\\"" <ada@example.org>',
      'To: bob@xn--bcher-kva.example',
      'Subject: Hi',
      expect.stringMatching(/^Message-ID: <notif_1\.[0-9a-f]{8}@example\.org>$/),
      'Date: now',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hello',
      'Bob',
      '',
    ])
  })

  it('says where the mail goes, and from whom', () => {
    expect(finish(composeMail(mailOf(), NONE))).toMatchObject({
      from: 'a@example.org',
      to: 'ada@example.com',
      messageId: '<1@example.org>',
    })
  })

  it('puts a page after its text, and files after both, with names and headers as they were given', async () => {
    const content = mailOf({
      replyTo: [{ name: 'Help', address: 'help@example.org' }],
      headers: { 'x-UNIT': 'a  b', 'X-None': ' ' },
      html: '<p>Hi Ada</p>',
      attachments: [
        { filename: 'a b.pdf', contentType: 'application/pdf', content: new Uint8Array([1, 2, 3]) },
      ],
    })
    const source = undated(await composed(content, NONE))
    const [mixed = '', alternative = ''] = [...source.matchAll(/boundary="(.*)"/g)].map(
      ([, found]) => found ?? '',
    )
    expect(source.replaceAll(mixed, 'MIXED').replaceAll(alternative, 'ALTERNATIVE').split('\r\n')).toEqual([
      'x-UNIT: a  b',
      'From: a@example.org',
      'Reply-To: Help <help@example.org>',
      'To: ada@example.com',
      'Subject: Hello',
      'Message-ID: <1@example.org>',
      'Date: now',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed;',
      ' boundary="MIXED"',
      '',
      '--MIXED',
      'Content-Type: multipart/alternative;',
      ' boundary="ALTERNATIVE"',
      '',
      '--ALTERNATIVE',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi Ada',
      '--ALTERNATIVE',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      '<p>Hi Ada</p>',
      '--ALTERNATIVE--',
      '',
      '--MIXED',
      'Content-Type: application/pdf;',
      ' name="a b.pdf"',
      'Content-Disposition: attachment;',
      ' filename="a b.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'AQID',
      '--MIXED--',
      '',
    ])
  })

  it('gives a page without text no empty alternative', async () => {
    const source = await composed(mailOf({ text: '', html: '<img src="https://example.org/a.png">' }), NONE)
    expect(source).toContain('Content-Type: text/html')
    expect(source).not.toContain('text/plain')
    expect(await composed(mailOf({ text: '', html: '' }), NONE)).toMatch(
      /text\/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n$/,
    )
  })

  it('is not ended by what an earlier mail was divided with', async () => {
    const file = { filename: 'a.txt', contentType: 'text/plain', content: new Uint8Array([65]) }
    const mail = (text: string) => composed(mailOf({ text, attachments: [file] }), NONE)
    const earlier = await mail('Hi')
    const [delimiter = ''] = /^--.*(?=\r\n)/m.exec(earlier) ?? []
    const text = `Hi\n${delimiter}\nContent-Type: text/html\n\n<p>evil</p>\n${delimiter}--`
    const parsed = await simpleParser(await mail(text))
    expect(parsed.text).toBe(text)
    expect(parsed.html).toBe(false)
    expect(parsed.attachments).toHaveLength(1)
  })

  it.each<[string, Partial<MailContent>]>([
    ['the name of a header', { headers: { 'X-A: b\r\nBcc': 'evil@example.net' } }],
    ['the name of a header with a space', { headers: { 'X A': 'b' } }],
    ['no name', { headers: { '': 'b' } }],
    ['a sender', { from: { name: '', address: 'a@example.org>\r\nBcc: <evil@example.net' } }],
    ['two senders', { from: { name: 'A', address: 'a@example.org, evil@example.net' } }],
    ['an address for answers', { replyTo: [{ name: '', address: 'a@example.org\nBcc: evil@example.net' }] }],
    ['a recipient of a copy', { cc: [{ name: 'a', address: 'a@example.org>, <evil@example.net' }] }],
    ['a recipient', { to: 'a@example.org\r\n\r\nbody' }],
    ['a recipient in UTF-8', { to: 'ü@example.org' }],
    ['a Message-ID', { messageId: '<a@example.org>\r\nBcc: evil@example.net' }],
  ])('refuses what could be more than %s', (_, more) => {
    expect(() => finish(composeMail(mailOf(more), NONE))).toThrow(/header|address|Message-ID/)
  })
})

describe.each(ENCODERS)('composeMail with the functions of nodemailer %s', (_version, encoders) => {
  it.each([
    ['ASCII', '7bit', 'a\ttab, a space at the end \nand\r\nthree\rlines'],
    ['lines as long as they may be', '7bit', `${'x'.repeat(76)}\n${'y'.repeat(76)}`],
    ['a long line', 'quoted-printable', 'x'.repeat(77)],
    ['a long line among others', 'quoted-printable', `short\n${'x'.repeat(77)}\nshort`],
    ['a few letters that are not ASCII', 'quoted-printable', 'Grüße'],
    ['an escape', 'quoted-printable', 'an escape \x1b[0m'],
    ['a NUL', 'quoted-printable', 'a NUL \0'],
    ['nothing of ASCII', 'base64', '漢字かな'],
    ['nothing of the plane of most letters', 'base64', '🎉🎉🎉'.repeat(50)],
  ])('sends text with %s as %s', async (_name, encoding, text) => {
    const source = await composed(mailOf({ text }), encoders)
    expect(headersOf(source)).toContain(`Content-Transfer-Encoding: ${encoding}`)
    expect((await simpleParser(source)).text?.replace(/\n$/, '')).toBe(text.replace(/\r\n?/g, '\n'))
  })

  it.each([
    ['Ada_1 Lovelace', 'Ada_1 Lovelace <a@example.org>'],
    ['Ada, "Countess"\\', '"Ada, \\"Countess\\"\\\\" <a@example.org>'],
    ['O\u2019Hara', '=?UTF-8?Q?O=E2=80=99Hara?= <a@example.org>'],
    ['字', '=?UTF-8?B?5a2X?= <a@example.org>'],
    ['=?x?=', '=?UTF-8?Q?=3D=3Fx=3F=3D?= <a@example.org>'],
    ['Ada\r\nBcc: evil@example.net\r\n\r\nevil', '"Ada Bcc: evil@example.net evil" <a@example.org>'],
    [' ', 'a@example.org'],
  ])('shows the name %j as %s', async (name, expected) => {
    const source = await composed(mailOf({ from: { name, address: 'a@example.org' } }), encoders)
    expect(headersOf(source)[0]).toBe(`From: ${expected}`)
  })

  it('keeps a header that was given in ASCII, so that what reads it reads what was meant', async () => {
    const headers = {
      'List-Id': '"Our, list" <list.example.org>',
      'X-Encoded': '=?UTF-8?Q?x?=',
      'X-Json': `{"a": ${'["b", "c"], '.repeat(20).trim()}`,
    }
    const source = await composed(mailOf({ headers }), encoders)
    expect(headersOf(source).slice(0, 3)).toEqual(
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    )
  })

  it.each([
    ['ü.pdf', '=?UTF-8?Q?=C3=BC=2Epdf?=', "filename*0*=utf-8''%C3%BC.pdf"],
    ['字.pdf', '=?UTF-8?Q?=E5=AD=97=2Epdf?=', "filename*0*=utf-8''%E5%AD%97.pdf"],
    ['a"b\\.pdf', 'a\\"b\\\\.pdf', 'filename="a\\"b\\\\.pdf"'],
    ['a;\r\nX-Evil: 1.pdf', 'a; X-Evil: 1.pdf', 'filename="a; X-Evil: 1.pdf"'],
    [
      `${'long name '.repeat(8)}.pdf`,
      '=?UTF-8?Q?long_name_long_name_long_name_long_name_?= =?UTF-8?Q?long_name_long_name_long_name_long_name_?= =?UTF-8?Q?=2Epdf?=',
      "filename*0*=utf-8''long%20name%20long%20name%20long%20name%20l; filename*1*=ong%20name%20long%20name%20long%20name%20long%20na; filename*2*=me%20long%20name%20.pdf",
    ],
  ])('names the file %j in both places', async (filename, name, disposition) => {
    const file = { filename, contentType: 'application/pdf', content: new Uint8Array() }
    const source = await composed(mailOf({ attachments: [file] }), encoders)
    const [, , part = ''] = source.split(/^--.*\r\n/m)
    expect(headersOf(part)).toEqual([
      `Content-Type: application/pdf; name="${name}"`,
      `Content-Disposition: attachment; ${disposition}`,
      'Content-Transfer-Encoding: base64',
    ])
  })

  it.each([
    ['text', 'text/plain; charset=utf-8', 'Grüße', 'text/plain; charset=utf-8; name="a.x"'],
    [
      'another name',
      'text/plain;charset=utf-8; name="other"; format=flowed',
      'a',
      'text/plain; charset=utf-8; format=flowed; name="a.x"',
    ],
    [
      'parameters that may not end where they seem to',
      'text/plain; a="b\\"; b="c d"; e="f\\"',
      'a',
      'text/plain; b="c d"; name="a.x"',
    ],
    [
      'a parameter that is not ASCII',
      'text/plain; a="Grüße; b=c; d"; e=f',
      'a',
      'text/plain; a*0*=utf-8\'\'Gr%C3%BC%C3%9Fe%3B%20b%3Dc%3B%20d; e=f; name="a.x"',
    ],
    ['a parameter without an end', `text/plain; a=${'b'.repeat(2000)}`, 'a', 'text/plain; name="a.x"'],
    ['a second header', 'text/plain\r\nBcc: evil@example.net', 'a', 'application/octet-stream; name="a.x"'],
    ['parts', 'multipart/mixed; boundary=b', '--b\r\n\r\na\r\n--b--', 'application/octet-stream; name="a.x"'],
    ['a mail', 'message/rfc822', 'Subject: a\r\n\r\nb\r\n', 'message/rfc822; name="a.x"'],
    [
      'a mail with other ends of lines',
      'message/rfc822',
      'Subject: a\n\nb\n',
      'application/octet-stream; name="a.x"',
    ],
    ['a mail in UTF-8', 'message/rfc822', 'Subject: a\r\n\r\nü', 'application/octet-stream; name="a.x"'],
    [
      'a mail with a line that is too long',
      'message/rfc822',
      `Subject: a\r\n\r\n${'x'.repeat(999)}`,
      'application/octet-stream; name="a.x"',
    ],
  ])(
    'calls a file with %s what it can be called, and keeps its bytes',
    async (_name, contentType, text, type) => {
      const content = new Uint8Array(Buffer.from(text))
      const source = await composed(
        mailOf({ attachments: [{ filename: 'a.x', contentType, content }] }),
        encoders,
      )
      const [, , part = ''] = source.split(/^--[-0-9a-f]{36}.*\r\n/m)
      expect(headersOf(part)[0]).toBe(`Content-Type: ${type}`)
      expect((await simpleParser(source)).attachments[0]?.content.toString()).toBe(text)
    },
  )

  it('is ASCII in lines that any mail server takes, and has no header that nobody gave', async () => {
    await fc.assert(
      fc.asyncProperty(anyMail, async (mail) => {
        const source = await composed(mail, encoders)
        expect(source).toMatch(/^(?:[\t -~]{0,998}\r\n)+$/)
        const end = source.indexOf('\r\n\r\n')
        for (const line of source.slice(0, end).split('\r\n')) {
          expect(line).toMatch(/\S/)
          if (line.length > 78) expect(line.trimStart()).not.toContain(' ')
        }
        const names = headersOf(source).map((header) => header.slice(0, header.indexOf(':')))
        const own = ['From', 'Reply-To', 'To', 'Cc', 'Subject', 'Message-ID', 'Date', 'MIME-Version']
        const expected = [...Object.keys(mail.headers), ...own, 'Content-Type', 'Content-Transfer-Encoding']
        expect(expected.filter((name) => names.includes(name))).toEqual(names)
        for (const [, kind, boundary = ''] of source.matchAll(/multipart\/(\w+);\r\n boundary="(.*)"/g)) {
          const parts = kind === 'alternative' ? 2 : 1 + mail.attachments.length
          expect(source.split('\r\n').filter((line) => line.startsWith(`--${boundary}`))).toHaveLength(
            parts + 1,
          )
        }
      }),
      { numRuns: 200 },
    )
  })

  it('keeps the bytes of a file of any length', async () => {
    for (const length of [0, 1, 2, 3, 56, 57, 58, 58_367, 58_368, 58_369, 58_368 * 2, 200_000]) {
      const content = new Uint8Array(length).map((_, index) => (index * 7919) >> 3)
      const file = { filename: 'a.bin', contentType: 'application/octet-stream', content }
      const source = await composed(mailOf({ attachments: [file] }), encoders)
      expect(Math.max(...source.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(76)
      const [found] = (await simpleParser(source)).attachments
      expect(Buffer.compare(found?.content ?? Buffer.alloc(0), content)).toBe(0)
    }
  })
})
