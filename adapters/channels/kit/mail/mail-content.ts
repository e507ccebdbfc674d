import { createHash } from 'node:crypto'
import type { EmailKind } from '../../../../src/core/channels/email.ts'
import type {
  Attachment,
  CalendarContent,
  EmailParts,
  MailAddress,
} from '../../../../src/core/channels/email-content.ts'
import { envelopeAddress } from '../../../../src/core/channels/mail-parts.ts'
import type { Mailbox } from '../../../../src/core/channels/mailbox.ts'
import { isListedSender } from '../../../../src/core/channels/senders.ts'
import type { Steps } from '../../../../src/core/loop/steps.ts'
import type { Rejected } from '../../../../src/core/notification/outcome.ts'
import type { EarlierMessage, Message } from '../../../../src/core/ports/provider.ts'
import type { MailFrame } from './mail-frame.ts'
import { partsFault, unsubscribeHeaders } from './parts-fault.ts'

/** A composed mail, independent of the provider's format. */
export interface MailContent {
  readonly from: Mailbox
  /** The recipient in ASCII. */
  readonly to: string
  /** Recipients of copies. No address is in both, or the recipient's. */
  readonly cc: readonly Mailbox[]
  readonly bcc: readonly Mailbox[]
  readonly replyTo: readonly Mailbox[]
  readonly subject: string
  /** For an HTML mail: its text alternative. */
  readonly text: string
  readonly html: string | null
  /** Headers without duplicates (case-insensitive). */
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly Attachment[]
  readonly calendar: CalendarContent | null
  /** With angle brackets. Equal for all attempts of a notification. */
  readonly messageId: string
}

/** Converts HTML to a text alternative. */
export type ConvertHtml = (html: string) => Steps<string>

/** The converter that a message needs, which is loaded on first use. Null: it needs none. */
export async function converterFor(
  { toText }: MailFrame,
  { format, text }: Message<EmailKind>,
): Promise<ConvertHtml | null> {
  if (format !== 'html' || text != null || toText !== undefined) return null
  return (await import('./html-to-text.ts')).htmlToText
}

/**
 * Composes a mail, or returns the refusal of the message.
 *
 * @param convert the result of {@link converterFor}
 */
export function* mailContent(
  frame: MailFrame,
  message: Message<EmailKind>,
  idempotencyKey: string,
  convert: ConvertHtml | null,
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
  const fault = textFault(message) ?? partsFault(parts)
  if (fault !== null) return refused('invalid_content', 'message', fault)
  const from = parts.from === undefined ? frame.from : mailboxOf(parts.from)
  if (from !== frame.from && !isListedSender(from.address.toLowerCase(), frame.senders)) {
    return refused('invalid_sender', 'message', 'The options of the provider do not allow this sender.')
  }
  const text = yield* textOf(message, frame, convert)
  if (text === null)
    return refused('invalid_content', 'message', 'The option "toText" failed or returned no text.')
  const replyTo = parts.replyTo?.map(mailboxOf) ?? (frame.replyTo === null ? [] : [frame.replyTo])
  return {
    from,
    to,
    ...copiesOf(parts, to),
    replyTo,
    subject: message.subject ?? '',
    text,
    html: message.format === 'html' ? message.body : null,
    headers: headersOf(frame, parts),
    attachments: parts.attachments ?? [],
    calendar: parts.calendar ?? null,
    messageId: messageId(idempotencyKey, to, from.address),
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
  convert: ConvertHtml | null,
): Steps<string | null> {
  if (format !== 'html') return body
  return text ?? (yield* alternativeOf(untracked, frame, convert))
}

/** Null: the application's converter failed. That is a fault of the message, not of the provider. */
function* alternativeOf(
  html: string,
  { toText }: MailFrame,
  convert: ConvertHtml | null,
): Steps<string | null> {
  if (toText === undefined) return convert === null ? null : yield* convert(html)
  try {
    const text: unknown = toText(html)
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

/** @param given with an address that {@link partsFault} has checked */
function mailboxOf({ name = '', address }: MailAddress): Mailbox {
  return { name, address: envelopeAddress(address) ?? address }
}

/** Some providers refuse a mail with the same address twice. */
function copiesOf(
  { cc = NO_COPIES, bcc = NO_COPIES }: EmailParts,
  to: string,
): Pick<MailContent, 'cc' | 'bcc'> {
  if (cc.length + bcc.length === 0) return { cc: [], bcc: [] }
  const seen = new Set([to.toLowerCase()])
  const unseen = (given: MailAddress): readonly Mailbox[] => {
    const mailbox = mailboxOf(given)
    const address = mailbox.address.toLowerCase()
    if (seen.has(address)) return []
    seen.add(address)
    return [mailbox]
  }
  return { cc: cc.flatMap(unseen), bcc: bcc.flatMap(unseen) }
}

const NO_COPIES: readonly MailAddress[] = []

function headersOf(
  frame: MailFrame,
  { headers, unsubscribeUrl }: EmailParts,
): Readonly<Record<string, string>> {
  const all = {
    // RFC 3834: stops vacation responders.
    'Auto-Submitted': 'auto-generated',
    ...frame.headers,
    ...headers,
    ...(unsubscribeUrl === undefined ? null : unsubscribeHeaders(unsubscribeUrl)),
  }
  const byName = new Map(Object.entries(all).map((header) => [header[0].toLowerCase(), header]))
  return Object.fromEntries(byName.values())
}

/**
 * The Message-ID of an earlier mail, with angle brackets. Null: its recipient is not an address.
 *
 * @example
 * const threadIdOf: Provider<EmailKind>['threadIdOf'] = (earlier) => messageIdOf(frame, earlier)
 */
export function messageIdOf(
  frame: MailFrame,
  { notificationId, to, parts }: EarlierMessage<EmailKind>,
): string | null {
  const address = envelopeAddress(to)
  const from = parts?.from === undefined ? frame.from : mailboxOf(parts.from)
  return address === null ? null : messageId(notificationId, address, from.address)
}

/**
 * Of a provider whose id for a mail is its Message-ID, perhaps that of a server that has replaced ours.
 *
 * @example
 * const threadIdOf: Provider<EmailKind>['threadIdOf'] = (earlier) => acceptedMessageIdOf(frame, earlier)
 */
export function acceptedMessageIdOf(frame: MailFrame, earlier: EarlierMessage<EmailKind>): string | null {
  const { providerMessageId: id } = earlier
  return id?.includes('@') === true ? `<${id}>` : messageIdOf(frame, earlier)
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
