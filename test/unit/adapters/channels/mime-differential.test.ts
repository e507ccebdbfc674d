import fc from 'fast-check'
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser'
import MailComposer from 'nodemailer/lib/mail-composer/index.js'
import { describe, expect, it } from 'vitest'
import type { MailContent } from '../../../../adapters/channels/kit/mail/mail-content.ts'
import type { Mailbox } from '../../../../src/core/channels/mailbox.ts'
import { anyMail, composed, ENCODERS, mailOf } from '../../../support/any-mail.ts'

/*
 * Every mail arrives as it was given, which mailparser judges, and as nodemailer's own composition of it arrives. The two
 * differ on purpose in what is taken away from the mail before, so that they agree:
 *
 * - A control character in a header becomes a space. nodemailer encodes it, and it arrives.
 * - What looks like an encoded word arrives as it was given. nodemailer's arrives decoded: other text than was sent.
 * - CR CR LF is two ends of a line. nodemailer makes one of them.
 * - A file without a name is called "attachment". nodemailer numbers them.
 * - White space at the ends of a header is no part of it, and that within it stays. nodemailer keeps the first where it
 *   encodes, and folds long lines at the second, of which one space is left then.
 */

const withoutControls = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    // A lone surrogate has no UTF-8.
    .replace(/\p{Cs}/gu, '\ufffd')
const withLines = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/\p{Cs}/gu, '\ufffd')
/** A mail ends with a line's end, which it may get where it had none. */
const withoutLastEnd = (text: string | false | undefined): string => (text || '').replace(/\n+$/, '')

/** The same mail without what the two treat differently. */
function common(mail: MailContent): MailContent {
  const header = (text: string) => withoutControls(text).replaceAll('=?', '= ?').replace(/\s+/g, ' ')
  const mailbox = ({ name, address }: Mailbox) => ({ name: header(name), address })
  return {
    ...mail,
    from: mailbox(mail.from),
    cc: mail.cc.map(mailbox),
    replyTo: mail.replyTo.map(mailbox),
    subject: header(mail.subject),
    text: withLines(mail.text),
    html: mail.html === null ? null : withLines(mail.html),
    headers: Object.fromEntries(Object.entries(mail.headers).map(([name, value]) => [name, header(value)])),
    attachments: mail.attachments.map((file) => ({
      ...file,
      filename: header(file.filename) || 'attachment',
    })),
  }
}

async function composedByNodemailer(mail: MailContent): Promise<Buffer> {
  const { from, to, cc, replyTo, subject, text, html, headers, attachments, messageId } = mail
  return await new MailComposer({
    from,
    to: [{ name: '', address: to }],
    cc: [...cc],
    replyTo: [...replyTo],
    subject,
    text,
    ...(html === null ? {} : { html }),
    headers,
    attachments: attachments.map((file) => ({
      ...file,
      content: Buffer.from(file.content),
      contentDisposition: 'attachment' as const,
    })),
    messageId,
  })
    .compile()
    .build()
}

/** Text as mailparser decodes it in a subject: it leaves headers that it does not know as they are. */
async function decoded(value: unknown): Promise<string> {
  return (await simpleParser(`Subject: ${value ?? ''}\r\n\r\n`)).subject ?? ''
}

/** What arrived. */
async function report(parsed: ParsedMail, names: readonly string[]) {
  const mailboxes = (field: AddressObject | AddressObject[] | undefined) =>
    [field ?? []].flat().flatMap(({ value }) => value.map(({ name, address }) => ({ name, address })))
  return {
    from: mailboxes(parsed.from),
    replyTo: mailboxes(parsed.replyTo),
    to: mailboxes(parsed.to),
    cc: mailboxes(parsed.cc),
    bcc: mailboxes(parsed.bcc),
    subject: parsed.subject ?? '',
    text: withoutLastEnd(parsed.text),
    html: withoutLastEnd(parsed.html),
    messageId: parsed.messageId,
    headers: await Promise.all(names.map(async (name) => decoded(parsed.headers.get(name.toLowerCase())))),
    attachments: parsed.attachments.map(({ filename, contentType, contentDisposition, content }) => ({
      filename,
      contentType,
      contentDisposition,
      content: content.toString('hex'),
    })),
  }
}

describe.each(ENCODERS)('a mail that is composed with the functions of nodemailer %s', (_, encoders) => {
  it('arrives as it was given, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(anyMail, async (mail) => {
        const parsed = await simpleParser(await composed(mail, encoders))
        const arrived = await report(parsed, [])
        const given = (box: Mailbox) => ({ name: withoutControls(box.name), address: box.address })
        expect(arrived).toMatchObject({
          from: [given(mail.from)],
          replyTo: mail.replyTo.map(given),
          cc: mail.cc.map(given),
          bcc: [],
          to: [{ name: '', address: mail.to }],
          subject: withoutControls(mail.subject),
          html: withoutLastEnd(withLines(mail.html ?? '')),
          messageId: mail.messageId,
        })
        // mailparser makes text of a page that comes without.
        if (mail.text !== '') expect(arrived.text).toBe(withoutLastEnd(withLines(mail.text)))
        expect(arrived.attachments).toMatchObject(
          mail.attachments.map(({ contentType, content, filename }) => ({
            // mailparser decodes words where there must be none.
            ...(filename.includes('=?') ? {} : { filename: withoutControls(filename) || 'attachment' }),
            contentType: contentType.split(';')[0],
            contentDisposition: 'attachment',
            content: Buffer.from(content).toString('hex'),
          })),
        )
      }),
      { numRuns: 100 },
    )
  })

  it.each(['\r\n-- \r\na@example.net', '"           \r  =\r\n'])(
    'keeps the spaces of the name %j in a folded list of mailboxes',
    async (name) => {
      const cc = ['𠀀'.repeat(40), name].map((each) => ({ name: each, address: 'ada@example.org' }))
      const parsed = await simpleParser(await composed(mailOf({ cc }), encoders))
      expect((await report(parsed, [])).cc[1]?.name).toBe(withoutControls(name))
    },
  )

  it('arrives as the one that nodemailer composes', async () => {
    await fc.assert(
      fc.asyncProperty(anyMail.map(common), async (mail) => {
        const names = Object.keys(mail.headers)
        const [ours, theirs] = await Promise.all([composed(mail, encoders), composedByNodemailer(mail)])
        const arrived = await report(await simpleParser(ours), names)
        expect(arrived).toEqual(await report(await simpleParser(theirs), names))
      }),
      { numRuns: 100 },
    )
  })
})
