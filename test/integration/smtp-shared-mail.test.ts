import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import { INVITATION, SHARED_MAIL } from '../support/api-mail.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { addresses, type MailServer, startMailServer } from '../support/mail-server.ts'

/** Replies to RCPT of a recipient, as the server shows it: in Unicode. */
const replies = new Map<string, string>()
let server: MailServer
let provider: Provider
beforeAll(async () => {
  server = await startMailServer({
    onRcptTo({ address }, _session, callback) {
      const reply = replies.get(address)
      if (reply === undefined) return callback()
      callback(Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }))
    },
  })
  provider = smtp({
    host: '127.0.0.1',
    port: server.port,
    from: 'no-reply@example.org',
    senders: ['acme.example'],
  })
})
beforeEach(() => {
  replies.clear()
  server.inbox.length = 0
})
afterAll(async () => {
  await provider.close?.()
  await server.close()
})

async function arrived(message: Message) {
  expect(await provider.send(message, sendContext())).toMatchObject({ kind: 'accepted' })
  const [mail] = server.inbox
  if (mail === undefined) throw new Error('no mail arrived')
  return { ...mail, second: await PostalMime.parse(mail.source) }
}

const PICTURE = { filename: 'logo.png', contentType: 'image/png', cid: 'logo@acme' }
const FILE = { filename: 'a.pdf', contentType: 'application/pdf', content: new Uint8Array([3, 4]) }
const page = '<p>Grüße <img src="cid:logo@acme"></p>'

describe('a mail with copies', () => {
  it('goes to everybody once, from its sender, and shows no blind copy', async () => {
    const { from, to, source, parsed, second } = await arrived(SHARED_MAIL)
    expect(from).toBe('news@acme.example')
    expect(to).toEqual(['ada@bücher.example', 'bob@bücher.example', 'carl@example.com'])
    expect(parsed.from?.value).toEqual([{ name: 'Büro, Acme', address: 'news@acme.example' }])
    expect(second.from).toEqual({ name: 'Büro, Acme', address: 'news@acme.example' })
    expect(parsed.messageId).toMatch(/@acme\.example>$/)
    expect(addresses(parsed.cc)).toEqual(['bob@bücher.example'])
    expect(second.cc).toEqual([{ name: 'Bob', address: 'bob@xn--bcher-kva.example' }])
    expect(second.replyTo).toEqual([
      { name: 'Help', address: 'help@acme.example' },
      { name: '', address: 'sales@acme.example' },
    ])
    expect(source).not.toMatch(/carl|^bcc:/im)
  })

  it('arrives with fifty of each, in lines that servers take', async () => {
    const many = (kind: string) =>
      Array.from({ length: 50 }, (_, n) => ({
        name: `Übergrößen-${kind}, ${n} `.repeat(4).trim(),
        address: `${kind}${n}@example.com`,
      }))
    const [cc, bcc] = [many('cc'), many('bcc')]
    const { to, source, second } = await arrived(mailMessage({ email: { cc, bcc } }))
    expect(to).toHaveLength(101)
    expect(second.cc).toEqual(cc)
    expect(source.split('\r\n').every((line) => line.length <= 998)).toBe(true)
  })

  it('goes to the others if one copy is refused, and says so', async () => {
    replies.set('carl@example.com', '550 No such user')
    replies.set('bob@bücher.example', '452 4.2.2 Full')
    expect(await provider.send(SHARED_MAIL, sendContext())).toMatchObject({
      kind: 'accepted',
      refusedCopies: [
        {
          address: 'bob@xn--bcher-kva.example',
          code: 'recipient_unreachable',
          message: expect.stringContaining('Full'),
        },
        { address: 'carl@example.com', code: 'invalid_recipient', providerCode: '550' },
      ],
    })
    expect(server.inbox.map(({ to }) => to)).toEqual([['ada@bücher.example']])
  })

  it.each([
    ['550 5.1.1 No such user', { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' }],
    ['451 4.7.1 Greylisted', { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient' }],
  ])('fails with the reply about its recipient, whatever becomes of copies: %s', async (reply, outcome) => {
    replies.set('ada@bücher.example', reply)
    expect(await provider.send(SHARED_MAIL, sendContext())).toMatchObject(outcome)
    replies.set('bob@bücher.example', '452 4.2.2 Full')
    replies.set('carl@example.com', '552 5.2.2 Full')
    expect(await provider.send(SHARED_MAIL, sendContext())).toMatchObject(outcome)
  })
})

describe('a mail with an inline image', () => {
  it('holds it beside the page, and other files after both', async () => {
    const attachments = [{ ...PICTURE, content: new Uint8Array([1, 2]) }, FILE]
    const message = mailMessage({ format: 'html', body: page, email: { attachments } })
    const { source, parsed, second } = await arrived(message)
    const structure = [...source.matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, type]) => type)
    expect(structure).toEqual([
      'multipart/mixed',
      ...['multipart/alternative', 'text/plain', 'multipart/related', 'text/html', 'image/png'],
      'application/pdf',
    ])
    expect(
      parsed.attachments.map(({ cid, related, contentDisposition }) => [cid, related, contentDisposition]),
    ).toEqual([
      ['logo@acme', true, 'inline'],
      [undefined, undefined, 'attachment'],
    ])
    expect(second.attachments).toMatchObject([
      {
        filename: 'logo.png',
        mimeType: 'image/png',
        disposition: 'inline',
        contentId: '<logo@acme>',
        related: true,
      },
      { filename: 'a.pdf', mimeType: 'application/pdf', disposition: 'attachment' },
    ])
    expect(new Uint8Array(second.attachments[0]?.content as ArrayBuffer)).toEqual(new Uint8Array([1, 2]))
    expect(second.html?.trim()).toBe(page)
  })

  it('of text has it as a file', async () => {
    const attachments = [{ ...PICTURE, content: new Uint8Array([1]) }]
    const { source, second } = await arrived(mailMessage({ email: { attachments } }))
    expect(source).not.toContain('multipart/related')
    expect(second.attachments).toMatchObject([{ filename: 'logo.png', contentId: '<logo@acme>' }])
  })
})

describe('a mail with an invitation', () => {
  const calendar = { method: 'REQUEST', content: INVITATION } as const

  it.each([
    ['text', mailMessage({ email: { calendar } }), ['text/plain', 'text/calendar']],
    [
      'a page',
      mailMessage({ format: 'html', body: page, email: { calendar } }),
      ['text/plain', 'text/html', 'text/calendar'],
    ],
  ])('has it as the last alternative of %s', async (_, message, types) => {
    const { source, second } = await arrived(message)
    const structure = [...source.matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, type]) => type)
    expect(structure).toEqual(['multipart/alternative', ...types])
    expect(source).toContain('\r\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\r\n')
    const [invitation] = second.attachments
    expect(invitation).toMatchObject({ mimeType: 'text/calendar', method: 'REQUEST' })
    const text = new TextDecoder().decode(invitation?.content as ArrayBuffer)
    expect(text.replace(/\r?\n/g, '\r\n').trimEnd()).toBe(INVITATION.trimEnd())
  })
})
