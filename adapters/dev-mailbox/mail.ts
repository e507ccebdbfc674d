import { text } from 'node:stream/consumers'
import type { EmailKind } from '../../src/core/channels/email.ts'
import { finish } from '../../src/core/loop/steps.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import { htmlToText } from '../channels/kit/mail/html-to-text.ts'
import { isMail, type MailContent, mailContent } from '../channels/kit/mail/mail-content.ts'
import type { MailFrame } from '../channels/kit/mail/mail-frame.ts'
import { composeMail } from '../channels/smtp/mime.ts'
import { mimeStream } from '../channels/smtp/mime-stream.ts'
import { loadEncoders } from '../channels/smtp/nodemailer.ts'

const FRAME: MailFrame = {
  from: { name: '', address: 'no-reply@dev.localhost' },
  senders: new Set(),
  replyTo: null,
  headers: {},
  toText: undefined,
}

/** A message of the channel `email` as a mail server would get it. Null: it cannot be a mail. */
export function mailOf(message: Message<EmailKind>, idempotencyKey: string): MailContent | null {
  const { from, ...parts } = message.email ?? {}
  // The mailbox has no sender, so each one is the first of the list.
  const frame =
    from === undefined ? FRAME : { ...FRAME, from: { name: from.name ?? '', address: from.address } }
  const content = finish(mailContent(frame, { ...message, email: parts }, idempotencyKey, htmlToText))
  return isMail(content) ? content : null
}

/** The source of a mail. @throws NotifierError `missing_peer` without nodemailer, whose encoders it needs */
export async function sourceOf(content: MailContent): Promise<string> {
  const { pieces } = finish(composeMail(content, await loadEncoders()))
  return text(mimeStream(pieces, finish))
}
