import type { ChannelKind, PartLinks, RenderedText } from '../channels/channel-kind.ts'
import type { ShownEmail } from '../channels/email-content.ts'
import type { PushContent } from '../channels/push.ts'
import type { SlackContent } from '../channels/slack.ts'
import type { SmsText } from '../channels/sms-segments.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { withLinks } from '../links/link-placeholders.ts'
import type { LinkSource } from '../links/link-target.ts'
import { assertUnsubscribable, type Links, type Urls } from '../links/links.ts'
import { type Category, DEFAULT_CATEGORY } from '../notification/category.ts'
import type { BodyFormat, NotificationContent } from '../notification/notification.ts'
import { type CompiledTemplate, toHeader } from './compile.ts'
import type { Work } from './extent.ts'
import { formatOf } from './format.ts'

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
 * @param urls makes the links of the message
 * @param spent receives the cost
 * @throws NotifierError `template_error`, `message_too_large`
 */
export function renderContent(
  kind: ChannelKind,
  content: NotificationContent,
  template: CompiledTemplate | null,
  urls: Urls,
  spent?: Work,
): RenderedText {
  if ('body' in content) {
    const { text, linkNonce } = content
    const format = formatOf(kind, content.format, content.body)
    const literal = {
      subject: content.subject === undefined ? null : toHeader(content.subject),
      body: format === 'html' ? content.body : (text ?? content.body),
      format,
      ...(format === 'html' && text !== undefined ? { text } : {}),
    }
    return linkNonce === undefined ? literal : withLinks(kind, literal, linkNonce, urls())
  }
  if (template === null) throw new NotifierError('template_error')
  const { variables } = content
  const values = template.given.links.size === 0 ? variables : { ...variables, ...urls() }
  return template.render(values, content, spent)
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
 * @param source the notification
 * @param category its category
 * @param threadId the thread of the message that it answers; null: none, or unknown
 * @throws NotifierError `invalid_parameter` if a requested link can no longer be made
 */
export function renderParts(
  kind: ChannelKind,
  source: LinkSource,
  { parts }: NotificationContent,
  category: Category,
  threadId: string | null,
  links: Links,
): Readonly<Record<string, unknown>> {
  if (kind.renderParts === undefined) return parts === undefined ? {} : { [kind.name]: parts }
  const brought = broughtLinks(kind, parts, source, category, links)
  if (parts === undefined && brought === NO_LINKS) return {}
  return {
    [kind.name]: kind.renderParts(parts ?? {}, threadId === null ? brought : { ...brought, threadId }),
  }
}

const NO_LINKS: PartLinks = Object.freeze({})

/** The links that the parts ask for, or the category brings. */
function broughtLinks(
  kind: ChannelKind,
  parts: unknown,
  source: LinkSource,
  category: Category,
  links: Links,
): PartLinks {
  const { required, listId } = category
  const wants = parts !== undefined && kind.wantsUnsubscribe?.(parts) === true
  // It may have become required since the accept: then the mail has no link.
  if (wants && !required) assertUnsubscribable(kind, parts, links, category)
  const offers =
    category.id !== DEFAULT_CATEGORY && links.canUnsubscribe && kind.mayUnsubscribe?.(parts) === true
  const linked = (wants || offers) && !required
  const listed = listId !== null && kind.mayUnsubscribe !== undefined
  if (!linked && !listed) return NO_LINKS
  return {
    ...(linked ? { unsubscribeUrl: links.unsubscribe(links.targetOf(kind, source)) } : {}),
    ...(listed ? { listId } : {}),
  }
}

/** A message in its public form, with its parts under the channel's name. */
export function shown(kind: ChannelKind, text: RenderedText, parts: unknown): RenderedMessage {
  const carried = parts === undefined || kind.showParts === undefined ? parts : kind.showParts(parts)
  const along = { ...kind.measure?.(text), ...Object(carried) }
  return Object.keys(along).length === 0 ? text : { ...text, [kind.name]: along }
}
