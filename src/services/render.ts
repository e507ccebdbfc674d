import type { ShownEmail } from '../channels/email-parts.ts'
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

/** A message as a recipient would get it. What goes along, and what the text is charged as, is under the channel's name. */
export interface RenderedMessage {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The text alternative that was given beside HTML; absent: it is made of the HTML. */
  readonly text?: string | undefined
  readonly email?: ShownEmail | undefined
  /** How the text travels, and what it is charged as. */
  readonly sms?: SmsText | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
}

/**
 * The text of a notification; the same for every attempt, because template version and variables are pinned.
 *
 * @param template the version that the content is pinned to; null where it is pinned to none
 * @param spent gets what it took added
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

/** As {@link renderContent}, in steps. */
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

/** True where a recipient would see nothing, as the kind judges it. */
export function isBlank(
  kind: ChannelKind,
  { subject, body }: RenderedText,
  { parts }: NotificationContent,
): boolean {
  return kind.isBlank?.({ subject, body, parts }) === true
}

/**
 * What goes along with the text, as providers take it: under the channel's name.
 *
 * @throws NotifierError `invalid_parameter` when a message wants a link that can no longer be made
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

/** A message as a caller is shown it: what goes along is under the channel's name. */
export function shown(kind: ChannelKind, text: RenderedText, content?: NotificationContent): RenderedMessage {
  const parts = content?.parts
  const carried = parts === undefined || kind.showParts === undefined ? parts : kind.showParts(parts)
  const along = { ...kind.measure?.(text), ...Object(carried) }
  return Object.keys(along).length === 0 ? text : { ...text, [kind.name]: along }
}
