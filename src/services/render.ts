import type { ShownEmail } from '../channels/email-content.ts'
import type { PushContent } from '../channels/push.ts'
import type { SlackContent } from '../channels/slack.ts'
import type { SmsText } from '../channels/sms-segments.ts'
import type { ChannelKind, RenderedText } from '../domain/channel-kind.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { BodyFormat, NotificationContent } from '../domain/notification.ts'
import { finish, type Steps } from '../domain/steps.ts'
import { type CompiledTemplate, toHeader } from '../domain/template/compile.ts'
import type { Work } from '../domain/template/extent.ts'
import { formatOf } from '../domain/template/format.ts'
import { assertUnsubscribable, type Links } from './links/links.ts'

/** A message as the recipient would get it. Parts and charges are under the channel's name. */
export interface RenderedMessage {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The given text alternative of HTML. Absent: made from the HTML. */
  readonly text?: string | undefined
  readonly email?: ShownEmail | undefined
  /** Encoding and charged segments of the text. */
  readonly sms?: SmsText | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
}

/**
 * Renders the text of a notification. The same for every attempt, because template version and variables are pinned.
 *
 * @param template the pinned version; null: none
 * @param spent receives the cost
 * @throws NotifierError `template_error`, `message_too_large`
 */
export function renderContent(
  kind: ChannelKind,
  content: NotificationContent,
  template: CompiledTemplate | null,
  spent?: Work,
): RenderedText {
  return finish(contentSteps(kind, content, template, spent))
}

/** Like {@link renderContent}, in steps. */
export function* contentSteps(
  kind: ChannelKind,
  content: NotificationContent,
  template: CompiledTemplate | null,
  spent?: Work,
): Steps<RenderedText> {
  if ('body' in content) {
    const { text } = content
    const format = formatOf(kind, content.format, content.body)
    return {
      subject: content.subject === undefined ? null : toHeader(content.subject),
      body: format === 'html' ? content.body : (text ?? content.body),
      format,
      ...(format === 'html' && text !== undefined ? { text } : {}),
    }
  }
  if (template === null) throw new NotifierError('template_error')
  return yield* template.renderSteps(content.variables, content, spent)
}

/** True: the recipient would see nothing, according to the kind. */
export function isBlank(
  kind: ChannelKind,
  { subject, body }: RenderedText,
  { parts }: NotificationContent,
): boolean {
  return kind.isBlank?.({ subject, body, parts }) === true
}

/**
 * The parts for providers, under the channel's name.
 *
 * @throws NotifierError `invalid_parameter` if a requested link can no longer be made
 */
export function renderParts(
  kind: ChannelKind,
  notificationId: string,
  { parts }: NotificationContent,
  links: Links,
): Readonly<Record<string, unknown>> {
  if (parts === undefined) return {}
  if (kind.renderParts === undefined) return { [kind.name]: parts }
  assertUnsubscribable(kind, parts, links)
  const wants = kind.wantsUnsubscribe?.(parts) === true
  const rendered = kind.renderParts(parts, wants ? { unsubscribeUrl: links.unsubscribe(notificationId) } : {})
  return { [kind.name]: rendered }
}

/** A message in its public form, with its parts under the channel's name. */
export function shown(kind: ChannelKind, text: RenderedText, content?: NotificationContent): RenderedMessage {
  const parts = content?.parts
  const carried = parts === undefined || kind.showParts === undefined ? parts : kind.showParts(parts)
  const along = { ...kind.measure?.(text), ...Object(carried) }
  return Object.keys(along).length === 0 ? text : { ...text, [kind.name]: along }
}
