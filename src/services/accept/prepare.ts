import type { ChannelName } from '../../domain/channel.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { ParsedSend } from '../../domain/input/send.ts'
import { assertHeaders, partsFor } from '../../domain/message-parts.ts'
import type { NewNotification, Notification, NotificationContent } from '../../domain/notification.ts'
import { LATEST_TIME } from '../../domain/outcome.ts'
import type { NumberCheck } from '../../domain/phone-number.ts'
import { assertRecipient } from '../../domain/recipient.ts'
import { boundedSmsText } from '../../domain/sms-segments.ts'
import type { Work } from '../../domain/template/extent.ts'
import { assertFormat } from '../../domain/template/format.ts'
import type { Template } from '../../domain/template/template.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Route, Routes } from '../channels/routes.ts'
import { assertUnsubscribable, type Links } from '../links/links.ts'
import { isBlank, renderContent } from '../render.ts'
import { wrong } from '../scope.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'

/** What turns a valid input into something that can be stored. */
export interface Preparation {
  readonly routes: Routes
  readonly compiled: CompiledTemplates
  readonly clock: Clock
  readonly links: Links
  /** Most segments of a text message. */
  readonly maxSmsSegments: number
  /** Headers, in lower case, that messages may set although mail relays obey them. */
  readonly allowedHeaders: ReadonlySet<string>
  /** How strictly phone numbers are checked. */
  readonly smsNumbers: NumberCheck
  /** Calling codes that an organization's text messages may go to; null: all. */
  smsCountries(organizationId: string): Promise<readonly string[] | null>
  newId(): string
}

/** Latest `sendAt`, from now. */
const MAX_AHEAD_MS = 366 * 24 * 60 * 60 * 1000

/**
 * Judges one send by everything but the storage's own limits, in the order: channel, recipient,
 * format, parts, template, variables, segments, times.
 *
 * @param template the template that `input.template` names; null when there is none
 * @param spent gets what it took to render added
 * @throws NotifierError as `Notifier.send`
 */
export function prepareSend(
  organizationId: string,
  input: ParsedSend,
  template: Template | null,
  how: Preparation,
  spent?: Work,
): NewNotification {
  const channel = channelOf(input, template)
  const { lane } = routeTo(channel, organizationId, input.to, how)
  assertFormat(channel, input.format)
  const parts = partsFor(channel, input)
  assertUnsubscribable(parts, how.links)
  assertHeaders(parts, how.allowedHeaders)
  const content = {
    ...contentOf(input, template, channel, how.compiled, spent),
    ...parts,
    ...(input.sensitive === true ? { sensitive: true as const } : {}),
  }
  if (channel === 'sms' || channel === 'push') {
    const text = renderContent(channel, content, template && how.compiled.of(template), spent)
    if (isBlank(channel, text, content)) throw blank(content)
    if (channel === 'sms') boundedSmsText(text.body, how.maxSmsSegments)
  }
  const { sendAt, expiresAt } = timesOf(input, how.clock.now())
  return {
    id: how.newId(),
    channel,
    to: input.to,
    content,
    lane,
    priority: input.priority ?? 'normal',
    sendAt,
    expiresAt,
  }
}

/**
 * The same message once more: its pinned content, to its recipient, at once. It may take as long as the first one might.
 *
 * @throws NotifierError `content_removed`, `invalid_channel`, `invalid_recipient`, `invalid_parameter`: what was right then need not be right
 *   now
 */
export function prepareResend(original: Notification, how: Preparation): NewNotification {
  const { id, organizationId, channel, to, content, priority, sendAt, expiresAt, createdAt } = original
  if (content.removed === true) throw new NotifierError('content_removed')
  const { lane } = routeTo(channel, organizationId, to, how)
  assertUnsubscribable(content, how.links)
  assertHeaders(content, how.allowedHeaders)
  const mayTakeMs = expiresAt === null ? null : expiresAt - Math.max(createdAt, sendAt ?? 0)
  return {
    id: how.newId(),
    channel,
    to,
    content,
    lane,
    priority,
    sendAt: null,
    expiresAt: mayTakeMs === null ? null : Math.min(how.clock.now() + mayTakeMs, LATEST_TIME),
    resendOf: id,
  }
}

/** @throws NotifierError `invalid_channel`, `invalid_email`, `invalid_phone`, `invalid_recipient` */
function routeTo(
  channel: ChannelName,
  organizationId: string,
  to: string,
  { routes, smsNumbers }: Preparation,
): Route {
  const route = routes.of(channel, organizationId)
  if (route === null) throw notConfigured(channel, routes)
  assertRecipient(channel, to, smsNumbers)
  // Where they are not known now, the lane judges: nothing is refused because a look-up failed.
  if (route.providers === null || route.providers.some((provider) => routes.accepts(provider, to)))
    return route
  throw new NotifierError('invalid_recipient', {
    message: `No configured ${channel} provider accepts this recipient.`,
    details: { field: 'to', channel },
  })
}

function channelOf(input: ParsedSend, template: Template | null): ChannelName {
  if (input.channel !== undefined) return input.channel
  if (input.template === undefined) throw missing('channel')
  if (template === null) throw templateNotFound(input.template)
  return template.channel
}

function contentOf(
  input: ParsedSend,
  template: Template | null,
  channel: ChannelName,
  compiled: CompiledTemplates,
  spent: Work | undefined,
): NotificationContent {
  const overrides = {
    ...(input.subject === undefined ? {} : { subject: input.subject }),
    ...(input.format === undefined ? {} : { format: input.format }),
  }
  if (input.template === undefined) {
    if (input.body === undefined) throw missing('body')
    assertNoValues(input)
    return { ...overrides, body: input.body }
  }
  if (template === null) throw templateNotFound(input.template)
  if (template.channel !== channel) {
    throw new NotifierError('invalid_channel', {
      message: `The template "${template.name}" is for ${template.channel}, not for ${channel}.`,
      details: { field: 'channel', expected: template.channel },
    })
  }
  const variables = { ...input.data, ...input.variables }
  compiled.of(template).assertVariables(variables, overrides, spent)
  const { id, name, version } = template
  return { ...overrides, template: { id, name, version }, variables }
}

function blank(content: NotificationContent): NotifierError {
  if ('body' in content) {
    return new NotifierError('invalid_parameter', {
      message: '"body": must not be blank, for nothing would be seen of the message.',
      details: { field: 'body' },
    })
  }
  return new NotifierError('invalid_template_variable', {
    message: `With these values the text of the template "${content.template.name}" is blank.`,
    details: { field: 'variables', missing: [] },
  })
}

/**
 * Values beside a literal text with placeholders are a template forgotten, or text that was taken for one: it would go out
 * as it stands. Values may come with any send, so those of a text without placeholders are ignored.
 */
function assertNoValues(input: ParsedSend): void {
  if (input.body?.includes('{{') !== true && input.subject?.includes('{{') !== true) return
  for (const field of ['variables', 'data'] as const) {
    if (Object.keys(input[field] ?? {}).length === 0) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${field}" needs a template: "subject" and "body" are sent as they stand, with their "{{".`,
      details: { field },
    })
  }
}

function timesOf(
  input: ParsedSend,
  now: number,
): { readonly sendAt: number | null; readonly expiresAt: number | null } {
  const { sendAt = null, expiresAt = null } = input
  if (sendAt !== null && sendAt > now + MAX_AHEAD_MS) throw wrong('sendAt', 'at most a year ahead')
  if (expiresAt !== null && expiresAt <= Math.max(now, sendAt ?? 0)) {
    throw wrong('expiresAt', sendAt === null ? 'in the future' : 'after "sendAt" and in the future')
  }
  return { sendAt, expiresAt }
}

function missing(field: string): NotifierError {
  return new NotifierError('missing_required_field', {
    message: `The field "${field}" is required unless a template is named.`,
    details: { field },
  })
}

function templateNotFound(reference: string): NotifierError {
  return new NotifierError('template_not_found', {
    status: 422,
    message: `The template "${reference}" does not exist.`,
    details: { field: 'template', template: reference },
  })
}

/** The channel that a send will take, as far as it can be told before it is judged. */
export function channelHint(input: ParsedSend, template: Template | null): ChannelName | undefined {
  return input.channel ?? template?.channel
}

function notConfigured(channel: ChannelName, { channels }: Routes): NotifierError {
  const others = channels.filter((other) => other !== channel)
  return new NotifierError('invalid_channel', {
    message: `The channel "${channel}" is not configured here; configured: ${others.join(', ') || 'none'}.`,
    details: { field: 'channel' },
  })
}
