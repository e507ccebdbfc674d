import type { MailContent } from './mail-content.ts'

/** A mail in the terms of nodemailer. */
export type Mail = Readonly<Record<string, unknown>>

/**
 * Puts one mail into the terms of nodemailer.
 *
 * Addresses go in as objects and the envelope is stated: given as text, a hostile recipient would be parsed as a
 * list or a group, and the mail would follow that (measured on nodemailer 10.6).
 */
export function composeMail(content: MailContent): Mail {
  const { from, to, replyTo, subject, text, html, headers, attachments, messageId } = content
  return {
    from,
    to: [{ name: '', address: to }],
    ...(replyTo === null ? {} : { replyTo }),
    envelope: { from: from.address, to: [to] },
    maxRecipients: 1,
    subject,
    messageId,
    headers,
    ...(html === null ? { text } : { text, html }),
    ...(attachments.length === 0
      ? {}
      : {
          attachments: attachments.map(({ filename, contentType, content: bytes }) => ({
            filename,
            contentType,
            content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
            contentDisposition: 'attachment',
          })),
        }),
  }
}
