import type * as z from 'zod'
import type { EmailKind } from '../../../../src/channels/email.ts'
import type { Outcome } from '../../../../src/domain/outcome.ts'
import type { Steps } from '../../../../src/domain/steps.ts'
import type { Message, SendContext } from '../../../../src/ports/provider.ts'
import { maxPerSecond, type PacedProviderOptions } from '../http/paced-options.ts'
import { type ProviderShape, providerShape } from '../http/provider-options.ts'
import { notBegun } from '../unsent.ts'
import { asciiText } from './header-text.ts'
import { isMail, type MailContent, mailContent } from './mail-content.ts'
import { type MailFrame, type MailOptions, type MailShape, mailShape } from './mail-frame.ts'

/** Options of every e-mail provider that is called over HTTP. */
export interface MailApiOptions extends PacedProviderOptions, MailOptions {
  /**
   * Most mails in any second, by all processes together that share the rate limiter: a whole number, or a fraction
   * below 1.
   *
   * @default no limit
   */
  readonly maxPerSecond?: number | undefined
}

/** The schemas of {@link MailApiOptions}, to be spread into a provider's own. */
export interface MailApiShape extends ProviderShape, MailShape {
  readonly maxPerSecond: z.ZodType<number | undefined>
}

export function mailApiShape(name: string, baseUrl: string): MailApiShape {
  return {
    ...providerShape({ name, baseUrl }),
    ...mailShape,
    maxPerSecond,
  }
}

/** Under this name a mail carries our id, and the provider's reports bring it back. */
export const OUR_ID = 'carillon_id'

/** What every provider's request is made of. */
export interface ApiMail extends MailContent {
  /** Not empty: most providers refuse an empty one. */
  readonly subject: string
  /** Not empty. */
  readonly text: string
  /** Not empty, either: SendGrid refuses an empty page. */
  readonly html: string | null
  /** In ASCII, in the order given. */
  readonly headerList: readonly { readonly name: string; readonly value: string }[]
  /** Our id for the notification. */
  readonly ourId: string
}

/** Where a mail has none, mail clients show the same. */
const NO_SUBJECT = '(no subject)'

/**
 * Makes a mail of a message and hands it to `send`; answers the refusal where none can be made of it, and `retry` where
 * the attempt is over before it began.
 */
export async function sendMail(
  frame: MailFrame,
  message: Message<EmailKind>,
  context: SendContext,
  send: (mail: ApiMail) => Promise<Outcome>,
): Promise<Outcome> {
  let isSent = false
  const sendOnce = (mail: ApiMail): Promise<Outcome> => {
    isSent = true
    return send(mail)
  }
  try {
    return await context.runInSlices(composeAndSend(frame, message, context, sendOnce))
  } catch (error) {
    if (!isSent && context.signal.aborted) return notBegun()
    throw error
  }
}

function* composeAndSend(
  frame: MailFrame,
  message: Message<EmailKind>,
  { idempotencyKey, notificationId, signal }: SendContext,
  send: (mail: ApiMail) => Promise<Outcome>,
): Steps<Outcome | Promise<Outcome>> {
  const content = yield* mailContent(frame, message, idempotencyKey)
  if (!isMail(content)) return content
  if (signal.aborted) return notBegun()
  const subject = content.subject.trim() === '' ? NO_SUBJECT : content.subject
  // To write a large request takes a step of its own.
  yield
  return send({
    ...content,
    subject,
    // Of a mail that is nothing but a picture.
    text: content.text.trim() === '' ? subject : content.text,
    html: content.html?.trim() === '' ? null : content.html,
    headerList: Object.entries(content.headers).map(([name, value]) => ({ name, value: asciiText(value) })),
    ourId: notificationId,
  })
}

/** The content of an attachment as APIs take it. */
export function base64(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64')
}
