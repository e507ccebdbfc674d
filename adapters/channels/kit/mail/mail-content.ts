import { createHash } from 'node:crypto'
import type { EmailKind } from '../../../../src/channels/email.ts'
import type { Attachment, EmailParts } from '../../../../src/channels/email-parts.ts'
import { envelopeAddress, headerFault, isFilename, isMediaType } from '../../../../src/domain/mail-parts.ts'
import type { Rejected } from '../../../../src/domain/outcome.ts'
import type { Steps } from '../../../../src/domain/steps.ts'
import type { Message } from '../../../../src/ports/provider.ts'
import type { Mailbox } from './address.ts'
import { htmlToText } from './html-to-text.ts'
import type { MailFrame } from './mail-frame.ts'

/** A composed mail, independent of the provider's format. */
export interface MailContent {
  readonly from: Mailbox
  /** The recipient in ASCII. */
  readonly to: string
  readonly replyTo: Mailbox | null
  readonly subject: string
  /** For an HTML mail: its text alternative. */
  readonly text: string
  readonly html: string | null
  /** Headers without duplicates (case-insensitive). */
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly Attachment[]
  /** With angle brackets. Equal for all attempts of a notification. */
  readonly messageId: string
}

/** Composes a mail, or returns the refusal of the message. */
export function* mailContent(
  frame: MailFrame,
  message: Message<EmailKind>,
  idempotencyKey: string,
): Steps<MailContent | Rejected> {
  const to = envelopeAddress(message.to)
  if (to === null) {
    return refused(
      'invalid_recipient',
      'recipient',
      'The recipient is not a single e-mail address without a display name.',
    )
  }
  const parts = message.email ?? {}
  const fault = textFault(message) ?? faultOf(parts)
  if (fault !== null) return refused('invalid_content', 'message', fault)
  const text = yield* textOf(message, frame)
  if (text === null)
    return refused('invalid_content', 'message', 'The option "toText" failed or returned no text.')
  const replyTo = parts.replyTo === undefined ? null : envelopeAddress(parts.replyTo)
  return {
    from: frame.from,
    to,
    replyTo: replyTo === null ? frame.replyTo : { name: '', address: replyTo },
    subject: message.subject ?? '',
    text,
    html: message.format === 'html' ? message.body : null,
    headers: headersOf(frame, parts),
    attachments: parts.attachments ?? [],
    messageId: messageId(idempotencyKey, to, frame.from.address),
  }
}

/** True for a mail, false for a refusal. */
export function isMail(content: MailContent | Rejected): content is MailContent {
  return 'from' in content
}

/** JavaScript callers can pass objects, which a mail client could read as a path. */
function textFault({ subject, body, text }: Message<EmailKind>): string | null {
  if (typeof (subject ?? '') !== 'string') return 'The subject is not text.'
  if (typeof body !== 'string') return 'The body is not text.'
  return typeof (text ?? '') === 'string' ? null : 'The text alternative is not text.'
}

/** The given text alternative, or one generated from the HTML. Null: see {@link alternativeOf}. */
function* textOf(
  { body, format, text, untracked = body }: Message<EmailKind>,
  frame: MailFrame,
): Steps<string | null> {
  if (format !== 'html') return body
  return text ?? (yield* alternativeOf(untracked, frame))
}

/** Null: the application's converter failed. That is a fault of the message, not of the provider. */
function* alternativeOf(html: string, { toText }: MailFrame): Steps<string | null> {
  if (toText === undefined) return yield* htmlToText(html)
  try {
    const text: unknown = toText(html)
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

/** Validates the parts again where they become headers, because other code paths may skip validation. */
function faultOf({ replyTo, headers = {}, attachments = [], unsubscribeUrl }: EmailParts): string | null {
  if (replyTo !== undefined && envelopeAddress(replyTo) === null) {
    return 'The address for replies is not a single e-mail address without a display name.'
  }
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value)
    if (fault !== null) return `A header cannot be sent: ${fault}.`
  }
  for (const { filename, contentType, content } of attachments) {
    if (!isFilename(filename)) return 'The name of an attachment is not a file name without a path.'
    if (!isMediaType(contentType)) return `The media type of "${filename}" is invalid.`
    // A mail client could read text in place of bytes as a path.
    if (!(content instanceof Uint8Array)) return `The content of "${filename}" is not bytes.`
  }
  if (unsubscribeUrl !== undefined && unsubscribeHref(unsubscribeUrl) === null) {
    return 'The unsubscribe address is not an https URL.'
  }
  return null
}

function headersOf(frame: MailFrame, parts: EmailParts): Readonly<Record<string, string>> {
  const href = parts.unsubscribeUrl === undefined ? null : unsubscribeHref(parts.unsubscribeUrl)
  const byName = new Map<string, readonly [name: string, value: string]>()
  const all = [
    // RFC 3834: stops vacation responders.
    ['Auto-Submitted', 'auto-generated'] as const,
    ...Object.entries(frame.headers),
    ...Object.entries(parts.headers ?? {}),
    ...(href === null
      ? []
      : [
          ['List-Unsubscribe', `<${href}>`] as const,
          // RFC 8058: permits a POST without confirmation.
          ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'] as const,
        ]),
  ]
  for (const [name, value] of all) byName.set(name.toLowerCase(), [name, value])
  return Object.fromEntries(byName.values())
}

/** The URL parser escapes every character that could end the header's `<…>`. */
function unsubscribeHref(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, href } = new URL(text)
  return protocol === 'https:' && /^[!-;=?-~]{1,900}$/.test(href) ? href : null
}

/**
 * Equal for all attempts of a notification, so that mailbox providers can collapse a duplicate after an ambiguous
 * attempt.
 */
function messageId(idempotencyKey: string, to: string, from: string): string {
  const stem = /^[A-Za-z0-9_-]{1,64}$/.test(idempotencyKey) ? idempotencyKey : digest(idempotencyKey, 32)
  return `<${stem}.${digest(to, 8)}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}

function refused(code: Rejected['code'], scope: Rejected['scope'], message: string): Rejected {
  return { kind: 'rejected', code, scope, message }
}
