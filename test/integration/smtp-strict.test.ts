import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { startMailServer } from '../support/mail-server.ts'

const SIZE = 20_000
const bytes = new Uint8Array(Array.from({ length: 256 }, (_, index) => index))
const MAIL: Partial<Message> = {
  to: 'ada@bücher.example',
  subject: 'Grüße aus Köln 🎉',
  body: '<p>Schöne Grüße, 字 🎉</p>',
  format: 'html',
  email: {
    headers: { 'X-Team': 'Büro Süd' },
    attachments: [{ filename: 'Übersicht.bin', contentType: 'application/octet-stream', content: bytes }],
  },
}

const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })
const isAscii = (data: Buffer): boolean => data.every((byte) => byte < 128)

/** A mail server that takes nothing which its extensions, and what the client asked for, do not permit. */
async function strictServer(options: SMTPServerOptions) {
  const taken: Buffer[] = []
  const judge = (address: string, utf8: boolean | undefined, callback: (error?: Error) => void): void =>
    callback(
      // The domain has become Unicode again; smtp-sessions.test.ts tests how it travels.
      isAscii(Buffer.from(address.slice(0, address.lastIndexOf('@')))) || utf8 === true
        ? undefined
        : refusal(553, '5.6.7 Non-ASCII addresses need SMTPUTF8'),
    )
  const server = await startMailServer({
    size: SIZE,
    onMailFrom: ({ address, args }, _session, callback) =>
      judge(address, args !== false && 'SMTPUTF8' in args, callback),
    onRcptTo: ({ address }, { envelope }, callback) => judge(address, envelope.smtpUtf8, callback),
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const mail = Buffer.concat(chunks)
        const head = mail.subarray(0, mail.indexOf('\r\n\r\n'))
        if (stream.sizeExceeded) callback(refusal(552, '5.3.4 Message too big'))
        else if (!isAscii(head) && envelope.smtpUtf8 !== true) {
          callback(refusal(554, '5.6.7 Non-ASCII headers need SMTPUTF8'))
        } else if (!isAscii(mail) && envelope.bodyType !== '8bitmime') {
          callback(refusal(554, '5.6.3 Eight-bit content needs 8BITMIME'))
        } else {
          taken.push(mail)
          callback(null)
        }
      })
    },
    ...options,
  })
  const channel = smtp({ host: '127.0.0.1', port: server.port, from: 'Büro <buero@bücher.example>' })
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  return {
    port: server.port,
    taken,
    send: (message: Partial<Message>) => channel.send(mailMessage(message), sendContext()),
  }
}

describe.each([
  ['announces SIZE, 8BITMIME and SMTPUTF8', {}],
  ['announces none of them', { hideSize: true, hide8BITMIME: true, hideSMTPUTF8: true }],
])('a server that enforces its extensions and %s', (_name, options) => {
  it('takes a mail with everything that is not ASCII, and it arrives whole', async () => {
    const { taken, send } = await strictServer(options)
    expect(await send(MAIL)).toMatchObject({ kind: 'accepted' })
    const parsed = await simpleParser(taken[0] ?? '')
    expect([parsed.subject, parsed.headers.get('x-team')]).toEqual([
      MAIL.subject,
      '=?UTF-8?Q?B=C3=BCro_S=C3=BCd?=',
    ])
    expect(parsed.html).toContain('Schöne Grüße, 字 🎉')
    expect(parsed.text).toContain('Schöne Grüße, 字 🎉')
    const [file] = parsed.attachments
    expect([file?.filename, file?.content.equals(bytes)]).toEqual(['Übersicht.bin', true])
  })

  it('refuses a mail that is too large for good, and takes the next one', async () => {
    const { taken, send } = await strictServer(options)
    expect(await send({ body: 'a word '.repeat(SIZE / 7 + 1) })).toMatchObject({
      kind: 'rejected',
      code: 'message_too_large',
      scope: 'message',
    })
    expect(taken).toEqual([])
    expect(await send({ body: 'short' })).toMatchObject({ kind: 'accepted' })
  })

  it('is told how large a mail is before it comes, and none that it would not take', async () => {
    const sizes: number[] = []
    const { taken, send } = await strictServer({
      ...options,
      onMailFrom({ args }, _session, callback) {
        sizes.push(args !== false && 'SIZE' in args ? Number(args.SIZE) : 0)
        callback()
      },
    })
    expect(await send({ body: 'a word '.repeat(SIZE / 7 + 1) })).toMatchObject({ code: 'message_too_large' })
    expect(await send(MAIL)).toMatchObject({ kind: 'accepted' })
    // Without a limit it announces that it has some.
    if ('hideSize' in options) expect(sizes.shift()).toBeGreaterThan(SIZE)
    expect(sizes).toEqual([taken[0]?.length])
  })

  it('gets no address whose local part is not ASCII', async () => {
    const { taken, send } = await strictServer(options)
    expect(await send({ to: 'jürgen@example.com' })).toMatchObject({
      kind: 'rejected',
      code: 'invalid_recipient',
      scope: 'recipient',
    })
    expect(taken).toEqual([])
  })

  it('does refuse what is against its rules', async () => {
    const { port, taken } = await strictServer(options)
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    const raw = (text: string): Promise<unknown> =>
      transport.sendMail({ envelope: { from: 'a@example.org', to: 'b@example.org' }, raw: text })
    await expect(raw('Subject: ü\r\n\r\nx\r\n')).rejects.toThrow('5.6.7')
    await expect(raw('Subject: x\r\n\r\nü\r\n')).rejects.toThrow('5.6.3')
    expect(taken).toEqual([])
    transport.close()
  })
})
