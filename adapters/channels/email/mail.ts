import { createHash } from 'node:crypto'
import type { Message } from '../../../src/ports/channel.ts'
import type { Mailbox } from './address.ts'

/** What all mails of one provider have in common. */
export interface MailFrame {
  readonly from: Mailbox
  readonly replyTo: Mailbox | null
  readonly headers: Readonly<Record<string, string>>
  readonly toText: (html: string) => string
}

/** A mail in the terms of nodemailer. */
export type Mail = Readonly<Record<string, unknown>>

/**
 * Composes one mail.
 *
 * Addresses go in as objects and the envelope is stated: given as text, a hostile recipient would be parsed as a
 * list or a group, and the mail would follow that (measured on nodemailer 10.6).
 *
 * @param to the recipient as {@link envelopeAddress} gave it
 */
export function composeMail(frame: MailFrame, message: Message, to: string, idempotencyKey: string): Mail {
  const { from, replyTo, headers, toText } = frame
  return {
    from,
    to: [{ name: '', address: to }],
    ...(replyTo === null ? {} : { replyTo }),
    envelope: { from: from.address, to: [to] },
    maxRecipients: 1,
    subject: message.subject ?? '',
    messageId: messageId(idempotencyKey, to, from.address),
    // RFC 3834: keeps vacation responders from answering a machine.
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    ...(message.format === 'html'
      ? { text: toText(message.body), html: message.body }
      : { text: message.body }),
  }
}

/**
 * The same for all attempts of one notification to one recipient, so that mailbox providers can collapse the
 * duplicate that an ambiguous attempt may have left.
 */
function messageId(idempotencyKey: string, to: string, from: string): string {
  const stem = /^[A-Za-z0-9_-]{1,64}$/.test(idempotencyKey) ? idempotencyKey : digest(idempotencyKey, 32)
  return `<${stem}.${digest(to, 8)}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
