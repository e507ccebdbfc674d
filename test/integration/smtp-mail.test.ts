import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { email } from '../../src/core/channels/built-in.ts'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import { compileTemplate } from '../../src/core/text/compile.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { addresses, type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts'
import { httpReceiver } from '../support/receivers.ts'

let server: MailServer
let channel: Provider
beforeAll(async () => {
  server = await startMailServer()
  channel = smtp({
    host: '127.0.0.1',
    port: server.port,
    from: 'Càrillon <no-reply@example.org>',
    replyTo: 'help@example.org',
    headers: { 'X-Campaign': 'welcome' },
  })
})
beforeEach(() => {
  server.inbox.length = 0
})
afterAll(async () => {
  await channel.close?.()
  await server.close()
})

async function arrived(message: Partial<Message>, idempotencyKey = 'notif_1'): Promise<ReceivedMail> {
  server.inbox.length = 0
  const outcome = await channel.send(mailMessage(message), sendContext({ idempotencyKey }))
  expect(outcome).toMatchObject({ kind: 'accepted' })
  const [mail] = server.inbox
  if (mail === undefined) throw new Error('no mail arrived')
  expect(server.inbox).toHaveLength(1)
  return mail
}

describe('a mail', () => {
  it('arrives as text with its subject, sender and headers', async () => {
    const body = `Grüße 🎉\r\n.\r\n..two dots\n\nFrom the start\n${'long '.repeat(1000)}`
    const { from, to, parsed, source } = await arrived({
      subject: 'Grüße aus Köln 🎉 '.repeat(8).trim(),
      body,
    })
    expect(from).toBe('no-reply@example.org')
    expect(to).toEqual(['ada@example.com'])
    expect(parsed.subject).toBe('Grüße aus Köln 🎉 '.repeat(8).trim())
    expect(parsed.from?.value).toEqual([{ name: 'Càrillon', address: 'no-reply@example.org' }])
    expect(addresses(parsed.to)).toEqual(['ada@example.com'])
    expect(addresses(parsed.replyTo)).toEqual(['help@example.org'])
    expect(parsed.text?.trimEnd()).toBe(body.replaceAll('\r\n', '\n').trimEnd())
    expect(parsed.html).toBe(false)
    expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
    expect(parsed.headers.get('x-campaign')).toBe('welcome')
    expect(parsed.headers.get('mime-version')).toBe('1.0')
    expect(parsed.date).toBeInstanceOf(Date)
    expect(source.split('\r\n').every((line) => line.length <= 998)).toBe(true)
  })

  it('of HTML carries a text alternative before it', async () => {
    const { parsed, source } = await arrived({
      format: 'html',
      body: '<h1>Grüße</h1><p>Hi Ada, <a href="https://example.org/?a=1&amp;b=2">start here</a>.</p>',
    })
    expect(parsed.html).toContain('<h1>Grüße</h1>')
    expect(parsed.text).toBe('Grüße\n\nHi Ada, start here (https://example.org/?a=1&b=2).')
    expect(source).toMatch(/multipart\/alternative[\s\S]+text\/plain[\s\S]+text\/html/)
  })

  it('of HTML carries the text that was given beside it, as it was given', async () => {
    const [html, text] = ['<p>Hi Ada, <b>now</b>.</p>', '<Now>, Ada: &amp; Grüße']
    const untracked = '<p>never looked at</p>'
    const { parsed, source } = await arrived({ format: 'html', body: html, text, untracked })
    expect([parsed.html, parsed.text]).toEqual([html, text])
    expect(source).toMatch(/multipart\/alternative[\s\S]+text\/plain[\s\S]+text\/html/)
  })

  it('takes the text alternative of the application', async () => {
    const own = smtp({
      host: '127.0.0.1',
      port: server.port,
      from: 'a@example.org',
      toText: (html) => `own: ${html.length}`,
    })
    await own.send(mailMessage({ format: 'html', body: '<p>12345</p>' }), sendContext())
    expect(server.inbox[0]?.parsed.text).toBe('own: 12')
    await own.close?.()
  })

  it('without a subject arrives', async () => {
    expect((await arrived({ subject: null })).parsed.subject ?? '').toBe('')
  })

  it('keeps its Message-ID over all attempts, in the domain of the sender', async () => {
    const first = await arrived({}, 'notif_1')
    const second = await arrived({ body: 'later' }, 'notif_1')
    const other = await arrived({}, 'notif_2')
    const elsewhere = await arrived({ to: 'bob@example.com' }, 'notif_1')
    expect(first.parsed.messageId).toMatch(/^<notif_1\.[0-9a-f]{8}@example\.org>$/)
    expect(second.parsed.messageId).toBe(first.parsed.messageId)
    expect(other.parsed.messageId).not.toBe(first.parsed.messageId)
    expect(elsewhere.parsed.messageId).not.toBe(first.parsed.messageId)
  })

  it('is known by its Message-ID afterwards', async () => {
    const outcome = await channel.send(mailMessage(), sendContext({ idempotencyKey: 'notif_9' }))
    const id = server.inbox[0]?.parsed.messageId?.slice(1, -1)
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: id })
  })

  it.each(["o'hara+tag@example.com", 'a.b-c_d@sub.example.co.uk', '{x}|~!#$%&*/=?^`@example.com'])(
    'goes to %s',
    async (to) => {
      expect((await arrived({ to })).to).toEqual([to])
    },
  )
})

describe('a mail with parts', () => {
  const email = {
    replyTo: [{ address: 'Ada.Answers@BÜCHER.example' }],
    headers: { 'X-Campaign': 'spring', 'X-Unit': 'Büro Köln' },
    unsubscribeUrl: 'https://example.org/u?t=ä b&l=<1>',
    attachments: [
      {
        filename: 'Rechnung Größe.pdf',
        contentType: 'application/pdf',
        content: new Uint8Array([0, 1, 2, 253, 254, 255]),
      },
      {
        filename: 'a.txt',
        contentType: 'text/plain; charset=utf-8',
        content: new TextEncoder().encode('Grüße\r\n.\r\n'),
      },
    ],
  }

  it('arrives with its files, byte by byte', async () => {
    const { parsed } = await arrived({ email })
    expect(
      parsed.attachments.map(({ filename, contentType, contentDisposition, content }) => ({
        filename,
        contentType,
        contentDisposition,
        content: new Uint8Array(content),
      })),
    ).toEqual([
      { ...email.attachments[0], contentDisposition: 'attachment' },
      { ...email.attachments[1], contentType: 'text/plain', contentDisposition: 'attachment' },
    ])
  })

  it('arrives with large files, in lines that any mail server takes', async () => {
    const large = (length: number, filename: string) => ({
      filename,
      contentType: 'application/octet-stream',
      content: new Uint8Array(randomBytes(length)),
    })
    const attachments = [large(12_000_000, 'a.bin'), large(3, 'b.bin'), large(58_368 * 20, 'c.bin')]
    const { parsed, source } = await arrived({ format: 'html', body: '<p>Grüße</p>', email: { attachments } })
    expect(parsed.html).toContain('<p>Grüße</p>')
    expect(parsed.text).toBe('Grüße')
    expect(parsed.attachments.map(({ filename }) => filename)).toEqual(['a.bin', 'b.bin', 'c.bin'])
    for (const [index, { content }] of attachments.entries()) {
      expect(parsed.attachments[index]?.content.equals(content)).toBe(true)
    }
    expect(source.split('\r\n').every((line) => line.length <= 90)).toBe(true)
  })

  it('carries its headers once, before those of the channel, and the address for answers', async () => {
    const { parsed, source } = await arrived({ email })
    expect(parsed.headers.get('x-campaign')).toBe('spring')
    expect(source.match(/^X-Campaign:/gim)).toHaveLength(1)
    expect(parsed.headers.get('x-unit')).toBe('=?UTF-8?Q?B=C3=BCro_K=C3=B6ln?=')
    expect(source).toContain('\r\nReply-To: Ada.Answers@xn--bcher-kva.example\r\n')
  })

  it('can be unsubscribed with one click (RFC 8058)', async () => {
    const { parsed, source } = await arrived({ email })
    expect(parsed.headers.get('list')).toMatchObject({
      unsubscribe: { url: 'https://example.org/u?t=%C3%A4%20b&l=%3C1%3E' },
      'unsubscribe-post': { name: 'List-Unsubscribe=One-Click' },
    })
    const unfolded = source.replace(/\r\n(?=[ \t])/g, '')
    expect(unfolded.match(/^List-Unsubscribe:.*$/gm)).toEqual([
      'List-Unsubscribe: <https://example.org/u?t=%C3%A4%20b&l=%3C1%3E>',
    ])
    expect(unfolded.match(/^List-Unsubscribe-Post:.*$/gm)).toEqual([
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ])
  })

  it('can be unsubscribed with one click at the longest address', async () => {
    const url = `https://example.org/u?t=${'x'.repeat(900 - 24)}`
    const { source } = await arrived({ email: { unsubscribeUrl: url } })
    expect(source.replace(/\r\n(?=[ \t])/g, '')).toContain(`\r\nList-Unsubscribe: <${url}>\r\n`)
    const longer = mailMessage({ email: { unsubscribeUrl: `${url}x` } })
    expect(await channel.send(longer, sendContext())).toMatchObject({ code: 'invalid_content' })
  })

  const file = { filename: 'a.txt', contentType: 'text/plain', content: new Uint8Array(1) }
  it.each<[string, Message['email']]>([
    [
      'an address for answers with a second header',
      { replyTo: [{ address: 'a@example.org\r\nBcc: evil@example.net' }] },
    ],
    ['a header that mail owns', { headers: { Bcc: 'evil@example.net' } }],
    ['a header name that ends the header', { headers: { 'X-A:\r\nBcc': 'evil@example.net' } }],
    ['a header value of two lines', { headers: { 'X-A': 'b\r\nBcc: evil@example.net' } }],
    ['a file name of two lines', { attachments: [{ ...file, filename: 'a\r\nBcc: evil@example.net' }] }],
    ['a path for a file name', { attachments: [{ ...file, filename: '../../etc/passwd' }] }],
    ['a media type of two lines', { attachments: [{ ...file, contentType: 'text/plain\r\nBcc: b@c.d' }] }],
    [
      'a path for a content',
      { attachments: [{ ...file, content: { path: '/etc/passwd' } as unknown as Uint8Array }] },
    ],
    ['an unsubscription without https', { unsubscribeUrl: 'http://example.org/u' }],
    ['an unsubscription that is no address', { unsubscribeUrl: 'mailto:a@example.org' }],
  ])('is refused for %s', async (_, parts) => {
    expect(await channel.send(mailMessage({ email: parts }), sendContext())).toMatchObject({
      kind: 'rejected',
      code: 'invalid_content',
      scope: 'message',
    })
    expect(server.inbox).toEqual([])
  })
})

describe('hostile input', () => {
  it.each([
    'b@example.com\r\nBcc: evil@example.net',
    'b@example.com\nBcc: evil@example.net',
    'b@example.com\r\nRCPT TO:<evil@example.net>',
    'b@example.com>\r\nRCPT TO:<evil@example.net',
    'b@example.com, evil@example.net',
    'b@example.com;evil@example.net',
    'b@example.com evil@example.net',
    'Friends: b@example.com, evil@example.net;',
    'Ada <evil@example.net>',
    '<evil@example.net>',
    '"b@example.com"@example.net',
    '"evil@example.net"',
    'evil@example.net@example.com',
    'evil%example.net@[127.0.0.1]',
    '@evil.example.net:b@example.com',
    'b@example.com\0',
    'b@exam\u00adple.com',
    'b@example.com\u2028',
    'b(comment)@example.com',
    'b@example..com',
    'b@-example.com',
    '.b@example.com',
    'b.@example.com',
    'b@',
    '@example.com',
    'b',
    '',
    `${'a'.repeat(65)}@example.com`,
    `b@${'a.'.repeat(130)}com`,
    'ü@example.com',
  ])('in the recipient %j is refused and goes nowhere', async (to) => {
    expect(await channel.send(mailMessage({ to }), sendContext())).toMatchObject({
      kind: 'rejected',
      code: 'invalid_recipient',
      scope: 'recipient',
    })
    expect(server.inbox).toEqual([])
  })

  it.each(['\r\n', '\n', '\r', '\r\n ', '\0', '\u2028'])(
    'in the subject, with %j, adds no header and no recipient',
    async (lineBreak) => {
      const subject = `Hello${lineBreak}Bcc: evil@example.net${lineBreak}X-Evil: 1${lineBreak}${lineBreak}<b>body</b>`
      const mail = await arrived({ subject })
      expect(mail.to).toEqual(['ada@example.com'])
      expect(mail.parsed.headers.has('bcc')).toBe(false)
      expect(mail.parsed.headers.has('x-evil')).toBe(false)
      expect(mail.parsed.text?.trim()).toBe('Hi Ada')
      expect(mail.parsed.subject).toContain('Bcc: evil@example.net')
    },
  )

  it('in the values of a template stays text', async () => {
    const template = compileTemplate(email, {
      subject: 'Hi {{name}}',
      body: '<p>Hi {{name}}</p>',
      format: null,
    })
    const name = 'Ada\r\nBcc: evil@example.net\r\n\r\n<script>alert(1)</script>{{secret}}'
    const mail = await arrived({ ...template.render({ name, secret: 'hidden' }) })
    expect(mail.to).toEqual(['ada@example.com'])
    expect(mail.parsed.headers.has('bcc')).toBe(false)
    expect(mail.parsed.html).not.toContain('<script>')
    expect(mail.parsed.text).toContain('<script>alert(1)</script>{{secret}}')
    expect(mail.source).not.toContain('hidden')
  })

  it('in the body cannot end the mail or speak SMTP', async () => {
    const body =
      'Hi\r\n.\r\nMAIL FROM:<evil@example.net>\r\nRCPT TO:<evil@example.net>\r\nDATA\r\nBcc: x@example.net'
    const mail = await arrived({ body })
    expect(server.inbox).toHaveLength(1)
    expect(mail.parsed.text?.trimEnd()).toBe(body.replaceAll('\r\n', '\n'))
  })

  it('in the idempotency key cannot reach the headers', async () => {
    const mail = await arrived({}, 'a@b>\r\nBcc: evil@example.net')
    expect(mail.parsed.headers.has('bcc')).toBe(false)
    expect(mail.parsed.messageId).toMatch(/^<[0-9a-f]{32}\.[0-9a-f]{8}@example\.org>$/)
  })

  it('reads no file and asks no address, even when given as an object', async () => {
    const receiver = await httpReceiver((response) => response.end('private'))
    const url = `http://127.0.0.1:${receiver.port}/`
    const here = new URL(import.meta.url).pathname
    for (const body of [{ path: here }, { href: url }, { path: url }]) {
      const outcome = await channel.send(mailMessage({ body: body as unknown as string }), sendContext())
      expect(outcome).toMatchObject({ kind: 'rejected', scope: 'message' })
    }
    expect(server.inbox).toEqual([])
    const mail = await arrived({
      format: 'html',
      body: `<p>Hi</p><img src="file://${here}"><img src="${url}"><link href="${url}" rel="stylesheet">`,
    })
    expect(mail.parsed.attachments).toEqual([])
    expect(mail.parsed.html).toContain(url)
    expect(receiver.connections).toBe(0)
    await receiver.close()
  })
})
