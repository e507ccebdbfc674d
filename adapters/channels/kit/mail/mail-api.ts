import type { EmailKind } from '../../../../src/core/channels/email.ts'
import type { Attachment, CalendarContent } from '../../../../src/core/channels/email-content.ts'
import type { Steps } from '../../../../src/core/loop/steps.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import type { Message, SendContext } from '../../../../src/core/ports/provider.ts'
import { type ProviderOptions, type ProviderShape, providerShape } from '../http/provider-options.ts'
import { notBegun } from '../unsent.ts'
import { asciiText } from './header-text.ts'
import { type ConvertHtml, converterFor, isMail, type MailContent, mailContent } from './mail-content.ts'
import { type MailFrame, type MailOptions, type MailShape, mailShape } from './mail-frame.ts'

/** Options of every e-mail provider with an HTTP API. */
export interface MailApiOptions extends ProviderOptions, MailOptions {}

/** Schemas of {@link MailApiOptions}, for a provider's own schema. */
export interface MailApiShape extends ProviderShape, MailShape {}

export function mailApiShape(name: string, baseUrl: string): MailApiShape {
  return { ...providerShape({ name, baseUrl }), ...mailShape }
}

/** Name under which a mail carries the notification's id and the provider's reports return it. */
export const OUR_ID = 'carillon_id'

/** Input for a provider's request. */
export interface ApiMail extends MailContent {
  /** Not empty: most providers refuse an empty subject. */
  readonly subject: string
  /** Not empty. */
  readonly text: string
  /** Null or not empty: SendGrid refuses an empty page. */
  readonly html: string | null
  /** In ASCII, in the given order. */
  readonly headerList: readonly { readonly name: string; readonly value: string }[]
  /** The notification's id. */
  readonly ourId: string
  /** Short texts of the application. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Mail clients show the same for mails without a subject. */
const NO_SUBJECT = '(no subject)'

/**
 * Composes a mail from a message and passes it to `send`. Returns the refusal if no mail can be made of it, and `retry`
 * if the attempt ended before it began.
 *
 * @example
 * const send: Provider<EmailKind>['send'] = (message, context) =>
 *   sendMail(frame, message, context, ({ from, to, subject, text, html }) => {
 *     const body = JSON.stringify({ from, to, subject, text, html })
 *     return http.send({ url: 'https://api.acme.example/mails', headers, body, signal: context.signal }, readOutcome)
 *   })
 */
export async function sendMail(
  frame: MailFrame,
  message: Message<EmailKind>,
  context: SendContext,
  send: (mail: ApiMail) => Promise<Outcome>,
): Promise<Outcome> {
  let isSent = false
  const sendOnce = async (mail: ApiMail): Promise<Outcome> => {
    isSent = true
    const outcome = await send(mail)
    return mail.cc.length + mail.bcc.length === 0 ? outcome : attributed(outcome, mail.to)
  }
  try {
    const convert = await converterFor(frame, message)
    return await context.runInSlices(composeAndSend(frame, message, context, convert, sendOnce))
  } catch (error) {
    if (!isSent && context.signal.aborted) return notBegun()
    throw error
  }
}

/** A provider refuses a mail with copies as a whole: only a refusal that names the recipient counts against it. */
function attributed(outcome: Outcome, to: string): Outcome {
  if (outcome.kind !== 'rejected' || outcome.scope !== 'recipient') return outcome
  if (outcome.message?.toLowerCase().includes(to.toLowerCase()) === true) return outcome
  const code = outcome.code === 'invalid_recipient' ? 'provider_error' : outcome.code
  return { ...outcome, code, scope: 'message' }
}

function* composeAndSend(
  frame: MailFrame,
  message: Message<EmailKind>,
  { idempotencyKey, notificationId, signal }: SendContext,
  convert: ConvertHtml | null,
  send: (mail: ApiMail) => Promise<Outcome>,
): Steps<Outcome | Promise<Outcome>> {
  const content = yield* mailContent(frame, message, idempotencyKey, convert)
  if (!isMail(content)) return content
  if (signal.aborted) return notBegun()
  const subject = content.subject.trim() === '' ? NO_SUBJECT : content.subject
  // Serializing a large request takes a separate step.
  yield
  return send({
    ...content,
    subject,
    // A mail may consist of a picture only.
    text: content.text.trim() === '' ? subject : content.text,
    html: content.html?.trim() === '' ? null : content.html,
    headerList: Object.entries(content.headers).map(([name, value]) => ({ name, value: asciiText(value) })),
    ourId: notificationId,
    metadata: message.metadata ?? {},
  })
}

/** Tags of providers that take only ASCII letters, digits, hyphens and underscores; other metadata is left out. */
export function tagsOf({
  metadata,
  ourId,
}: ApiMail): readonly { readonly name: string; readonly value: string }[] {
  const tags = Object.entries(metadata)
    .filter(([name, value]) => name !== OUR_ID && TAG.test(name) && TAG.test(value))
    .map(([name, value]) => ({ name, value }))
  return [{ name: OUR_ID, value: ourId }, ...tags]
}

const TAG = /^[A-Za-z0-9_-]{1,256}$/

/** A calendar invitation as a file, for providers that have no field for one. */
function invitationFile({ method, content }: CalendarContent): Attachment {
  return {
    filename: 'invite.ics',
    contentType: `text/calendar; charset=utf-8; method=${method}`,
    content: Buffer.from(content),
  }
}

/**
 * The files of a mail, with the invitation.
 *
 * @example
 * const files = filesOf(mail).map(({ filename, contentType, content }) => ({
 *   name: filename,
 *   type: contentType,
 *   data: base64(content),
 * }))
 */
export function filesOf({ attachments, calendar }: ApiMail): readonly Attachment[] {
  return calendar === null ? attachments : [...attachments, invitationFile(calendar)]
}

/**
 * An attachment's content in base64.
 *
 * @example
 * const files = filesOf(mail).map(({ filename, content }) => ({ name: filename, data: base64(content) }))
 */
export function base64(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64')
}
