import type { ChannelName } from '../domain/channel.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { decodedLength } from '../domain/input/parts.ts'
import {
  type EmailContent,
  type MessageParts,
  type PushContent,
  partsIn,
  type SlackContent,
} from '../domain/message-parts.ts'
import type { BodyFormat, NotificationContent } from '../domain/notification.ts'
import { type SmsText, smsText } from '../domain/sms-segments.ts'
import { finish, type Steps } from '../domain/steps.ts'
import { type CompiledTemplate, type RenderedText, toHeader } from '../domain/template/compile.ts'
import type { Work } from '../domain/template/extent.ts'
import { formatOf } from '../domain/template/format.ts'
import type { Message } from '../ports/provider.ts'
import { assertUnsubscribable, type Links } from './links/links.ts'

/** Text as a recipient would get it. */
export interface RenderedRecord {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** On the channel `sms`: how the text travels, and what it is charged as. */
  readonly sms?: SmsText | undefined
}

/** What goes along with a text; absent what was not given. */
export interface PartsRecord {
  readonly email?:
    | (Omit<EmailContent, 'attachments'> & { readonly attachments?: readonly AttachmentRecord[] | undefined })
    | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
}

/** An attachment without its content, which is never shown. */
export interface AttachmentRecord {
  readonly filename: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
}

/**
 * The text of a notification; the same for every attempt, because template version and variables are pinned.
 *
 * @param template the version that the content is pinned to; null where it is pinned to none
 * @param spent gets what it took added
 * @throws NotifierError `template_error`, `message_too_large`
 */
export function renderContent(
  channel: ChannelName,
  content: NotificationContent,
  template: CompiledTemplate | null,
  spent?: Work,
): RenderedText {
  return finish(contentSteps(channel, content, template, spent))
}

/** As {@link renderContent}, in steps. */
export function* contentSteps(
  channel: ChannelName,
  content: NotificationContent,
  template: CompiledTemplate | null,
  spent?: Work,
): Steps<RenderedText> {
  if ('body' in content) {
    return {
      subject: content.subject === undefined ? null : toHeader(content.subject),
      body: content.body,
      format: formatOf(channel, content.format, content.body),
    }
  }
  if (template === null) throw new NotifierError('template_error')
  return yield* template.renderSteps(content.variables, content, spent)
}

/**
 * True where a recipient would see nothing: of a text message, which is charged all the same, its text; of a push message
 * its text and its title, unless it is there for its data. All else may be meant so.
 */
export function isBlank(
  channel: ChannelName,
  { subject, body }: RenderedText,
  content: MessageParts,
): boolean {
  if (channel !== 'sms' && channel !== 'push') return false
  if (body.trim() !== '') return false
  return channel === 'sms' || ((subject ?? '').trim() === '' && content.push?.data === undefined)
}

/**
 * What goes along with the text, as channels take it.
 *
 * @throws NotifierError `invalid_parameter` when a mail wants a link that can no longer be made
 */
export function renderParts(
  notificationId: string,
  content: MessageParts,
  links: Links,
): Pick<Message, 'email' | 'push' | 'slack'> {
  const { email, ...others } = partsIn(content)
  if (email === undefined) return others
  assertUnsubscribable(content, links)
  const { unsubscribe, attachments, ...rest } = email
  return {
    ...others,
    email: {
      ...rest,
      ...(attachments === undefined
        ? {}
        : {
            attachments: attachments.map((one) => ({ ...one, content: Buffer.from(one.content, 'base64') })),
          }),
      ...(unsubscribe === true ? { unsubscribeUrl: links.unsubscribe(notificationId) } : {}),
    },
  }
}

/** What goes along, as callers are shown it: of attachments the size, never the content. */
export function shownParts(content: MessageParts): PartsRecord {
  const { email, ...others } = partsIn(content)
  if (email === undefined) return others
  const { attachments, ...rest } = email
  if (attachments === undefined) return { ...others, email: rest }
  const shown = attachments.map(({ filename, contentType, content: base64 }) => ({
    filename,
    contentType,
    size: decodedLength(base64),
  }))
  return { ...others, email: { ...rest, attachments: shown } }
}

/** Text as a caller is shown it before it is sent. */
export function shownText(channel: ChannelName, text: RenderedText): RenderedRecord {
  return channel === 'sms' ? { ...text, sms: smsText(text.body) } : text
}
