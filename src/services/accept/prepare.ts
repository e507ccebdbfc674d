import type { ChannelKind, OrganizationLimits } from '../../domain/channel-kind.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { mergedMetadata } from '../../domain/input/metadata.ts'
import type { ParsedSend, SendSchema } from '../../domain/input/send.ts'
import { type StoredText, storedText } from '../../domain/message-text.ts'
import type { NewNotification, Notification, NotificationContent } from '../../domain/notification.ts'
import { LATEST_TIME } from '../../domain/outcome.ts'
import type { Category } from '../../domain/preferences/category.ts'
import { assertRecipient } from '../../domain/recipient.ts'
import type { CompiledTemplate } from '../../domain/template/compile.ts'
import type { Work } from '../../domain/template/extent.ts'
import { assertFormat } from '../../domain/template/format.ts'
import type { Template } from '../../domain/template/template.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PartsRefusal } from '../../ports/provider.ts'
import { partsOf } from '../channels/parts-of.ts'
import type { Destination, ProviderRegistry } from '../channels/provider-registry.ts'
import type { LinkSource } from '../links/link-target.ts'
import {
  assertLinkable,
  assertUnsubscribable,
  exampleUrls,
  type Links,
  type Urls,
  urlsOf,
} from '../links/links.ts'
import type { Consent } from '../preferences/consent.ts'
import { addressed } from '../recipients/addressed.ts'
import { localeOf, timeZoneOf } from '../recipients/language.ts'
import type { PeopleFinder, ResolvedPerson } from '../recipients/people.ts'
import { isBlank, renderContent } from '../render.ts'
import { wrong } from '../scope.ts'
import type { Library } from '../shared-texts/library.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'
import { referenceOf } from '../templates/kind.ts'

/** Dependencies for judging a send. */
export interface Preparation {
  readonly consent: Consent
  readonly registry: ProviderRegistry
  readonly compiled: CompiledTemplates
  readonly library: Library
  readonly clock: Clock
  readonly links: Links
  /** The schema of a send with the parts of all known channel kinds. */
  readonly sendInput: SendSchema
  /** The countries that an organization may send to. */
  limitsOf(organizationId: string): Promise<OrganizationLimits>
  newId(): string
  newGroupId(): string
  /** The application's people. Null: the option `recipients` is absent. */
  readonly people: PeopleFinder | null
}

/** What one send stores: a notification for each address. */
export type Group = readonly [NewNotification, ...NewNotification[]]

/** Latest `sendAt` from now. */
const MAX_AHEAD_MS = 366 * 24 * 60 * 60 * 1000

/**
 * Judges a send by everything except the storage's limits, in this order: channel, recipient, format, parts, template,
 * variables, segments, times.
 *
 * @param person of `input.recipient`; null: unknown, or there is none
 * @param template the template `input.template`; null: none
 * @param category the category that the input or the template names; null: none
 * @returns a notification for each address, of which the first may have none
 * @param spent receives the cost of the rendering
 * @throws NotifierError as `Notifier.send`
 */
export function prepareSend(
  organizationId: string,
  input: ParsedSend,
  person: ResolvedPerson | null,
  template: Template | null,
  category: Category | null,
  how: Preparation,
  spent?: Work,
): Group {
  const channel = channelOf(input, template)
  const kind = how.registry.kinds.of(channel)
  const route = routeOf(kind, organizationId, how)
  const reaches = (address: string) => assertReached(kind, route, address, how)
  const { addresses, recipient } = addressed(kind, input, person, reaches, how.people)
  const locale = localeOf(input, person)
  const [to = '', ...others] = addresses
  assertFormat(kind, input)
  const parts = fromCategory(kind, partsOf(kind, input, how.registry.kinds), category)
  assertParts(kind, parts, how.links, category ?? how.consent.categories.default)
  if (to !== '') assertCarried(kind, route, to, parts, how.registry)
  const id = how.newId()
  const content = {
    ...contentOf(kind, input, parts, template, how, spent, timeZoneOf(input, person)),
    ...(parts === undefined ? {} : { parts }),
    ...(input.sensitive === true ? { sensitive: true as const } : {}),
    ...(locale === undefined ? {} : { locale }),
  }
  if (kind.isBlank !== undefined || kind.assertText !== undefined) {
    const notification = { id, to, category: category?.id, recipient, content }
    const source = { organizationId, notification }
    const urls = acceptUrls(kind, source, how.links)
    assertReadable(kind, input, content, template && how.compiled.of(template), urls, spent)
  }
  const { sendAt, expiresAt } = timesOf(input, how.clock.now())
  const first: NewNotification = {
    id,
    channel,
    to,
    content,
    lane: route.lane,
    priority: input.priority ?? 'normal',
    sendAt,
    expiresAt,
    metadata: mergedMetadata(template?.metadata, input.metadata),
    category: category?.id,
  }
  if (recipient === null) return [first]
  if (others.length === 0) return [{ ...first, recipient, ...(to === '' ? { counted: false } : {}) }]
  const shared = { ...first, recipient, groupId: how.newGroupId() }
  return [shared, ...others.map((other) => ({ ...shared, id: how.newId(), to: other }))]
}

/** Someone without an address gets no link. */
function acceptUrls(kind: ChannelKind, source: LinkSource, links: Links): Urls {
  return source.notification.to === '' ? exampleUrls : urlsOf(kind, source, links)
}

/** @throws NotifierError if the text is blank, or too large for the channel */
function assertReadable(
  kind: ChannelKind,
  input: ParsedSend,
  content: NotificationContent,
  template: CompiledTemplate | null,
  urls: Urls,
  spent: Work | undefined,
): void {
  const text = renderContent(kind, content, template, urls, spent)
  if (isBlank(kind, text, content)) throw blank(input, content)
  kind.assertText?.(text, content.parts)
}

/**
 * The category that a send or its template names. Null: none.
 *
 * @throws NotifierError `unknown_category`
 */
export function categoryFor(
  organizationId: string,
  input: ParsedSend,
  template: Template | null,
  { consent }: Preparation,
): Category | null | Promise<Category> {
  const id = input.category ?? template?.category ?? null
  return id === null ? null : consent.categories.existing(organizationId, id)
}

/**
 * A new notification from the pinned content of an old one, to the same recipient, due now, with an equally long
 * lifetime.
 *
 * @throws NotifierError `content_removed`, `invalid_channel`, `invalid_recipient`, `invalid_parameter`, or a provider's
 *   reason: the rules may have changed since the first accept
 */
export function prepareResend(original: Notification, how: Preparation): NewNotification {
  const { id, organizationId, channel, to, priority, sendAt, expiresAt, createdAt } = original
  const { metadata, recipient, category } = original
  const { turnedOff: _, ...content } = original.content
  if (content.removed === true) throw new NotifierError('content_removed')
  const kind = how.registry.kinds.of(channel)
  const route = routeOf(kind, organizationId, how)
  // A recipient without an address: it will be skipped.
  if (to !== '') assertReached(kind, route, to, how)
  assertParts(kind, content.parts, how.links, null)
  if (to !== '') assertCarried(kind, route, to, content.parts, how.registry)
  const mayTakeMs = expiresAt === null ? null : expiresAt - Math.max(createdAt, sendAt ?? 0)
  return {
    id: how.newId(),
    channel,
    to,
    content,
    lane: route.lane,
    priority,
    sendAt: null,
    expiresAt: mayTakeMs === null ? null : Math.min(how.clock.now() + mayTakeMs, LATEST_TIME),
    resendOf: id,
    metadata,
    recipient,
    category,
  }
}

/** @throws NotifierError `invalid_channel` */
function routeOf({ name }: ChannelKind, organizationId: string, { registry }: Preparation): Destination {
  const route = registry.of(name, organizationId)
  if (route === null) throw notConfigured(name, registry)
  return route
}

/** @throws NotifierError `invalid_email`, `invalid_phone`, `invalid_recipient` */
function assertReached(
  kind: ChannelKind,
  { providers }: Destination,
  to: string,
  { registry }: Preparation,
): void {
  assertRecipient(kind, to)
  // If the providers are unknown now, the lane decides later: a failed lookup refuses nothing.
  if (providers === null || providers.some((provider) => registry.accepts(provider, to))) return
  throw new NotifierError('invalid_recipient', {
    message: `No configured ${kind.name} provider accepts this recipient.`,
    details: { field: 'to', channel: kind.name },
  })
}

function fromCategory(kind: ChannelKind, parts: unknown, category: Category | null): unknown {
  const sender = category?.from ?? null
  return sender === null || kind.withSender === undefined ? parts : kind.withSender(parts, sender)
}

/** @throws NotifierError `invalid_parameter` */
function assertParts(kind: ChannelKind, parts: unknown, links: Links, category: Category | null): void {
  if (parts === undefined) return
  assertUnsubscribable(kind, parts, links, category)
  kind.assertParts?.(parts)
}

/**
 * Asks the providers of the recipient whether one can carry the parts.
 *
 * @throws NotifierError with the reason of the first that refuses
 */
function assertCarried(
  { name: channel }: ChannelKind,
  { providers }: Destination,
  to: string,
  parts: unknown,
  registry: ProviderRegistry,
): void {
  if (parts === undefined || providers === null) return
  let refusal: PartsRefusal | null = null
  for (const provider of providers) {
    if (!registry.accepts(provider, to)) continue
    const why = registry.refusalOf(provider, to, parts)
    if (why === null) return
    refusal ??= why
  }
  // None accepts the recipient any more: the lane decides.
  if (refusal === null) return
  const { code, message, field } = refusal
  throw new NotifierError(code, {
    message,
    details: { field: field === undefined ? channel : `${channel}.${field}`, channel },
  })
}

function channelOf(input: ParsedSend, template: Template | null): string {
  if (input.channel !== undefined) return input.channel
  if (input.template === undefined) throw missing('channel')
  if (template === null) throw templateNotFound(input.template)
  return template.channel
}

function contentOf(
  kind: ChannelKind,
  input: ParsedSend,
  parts: unknown,
  template: Template | null,
  { compiled, links }: Preparation,
  spent: Work | undefined,
  timeZone: string | undefined,
): NotificationContent {
  const overrides = {
    ...(input.subject === undefined ? {} : { subject: input.subject }),
    ...(input.format === undefined ? {} : { format: input.format }),
  }
  if (input.template === undefined) {
    const given = storedText(input) ?? partsAlone(kind, input, parts)
    if (given === null) throw missing('body', '"html", "text" or "body"')
    assertNoValues(input)
    const { body, format, text } = given
    return {
      ...overrides,
      body,
      ...(format === null ? {} : { format }),
      ...(text === null ? {} : { text }),
    }
  }
  if (template === null) throw templateNotFound(input.template)
  if (template.channel !== kind.name) {
    throw new NotifierError('invalid_channel', {
      message: `The template "${template.name}" is for ${template.channel}, not for ${kind.name}.`,
      details: { field: 'channel', expected: template.channel },
    })
  }
  const variables = { ...input.data, ...input.variables }
  const zone = template.made?.timeZone
  const how = zone === undefined ? overrides : { ...overrides, timeZone: timeZone ?? zone }
  const prepared = compiled.of(template)
  assertLinkable(prepared.links, variables, links)
  prepared.assertVariables(variables, how, spent)
  return { ...how, template: referenceOf(template), variables }
}

/** The empty text of a message whose parts stand in for one; null: it needs a text. */
function partsAlone(kind: ChannelKind, input: ParsedSend, parts: unknown): StoredText | null {
  const message = { subject: input.subject ?? null, body: '', parts }
  return parts !== undefined && kind.isBlank?.(message) === false
    ? { body: '', format: null, text: null }
    : null
}

function blank(input: ParsedSend, content: NotificationContent): NotifierError {
  if ('body' in content) {
    const field = input.text === undefined ? 'body' : 'text'
    return new NotifierError('invalid_parameter', {
      message: `"${field}": must not be blank.`,
      details: { field },
    })
  }
  return new NotifierError('invalid_template_variable', {
    message: `With these values the text of the template "${content.template.name}" is blank.`,
    details: { field: 'variables', missing: [] },
  })
}

/**
 * Rejects variables for a literal text with placeholders: the template is missing, or the text would go out with its
 * placeholders. Variables are ignored for a text without placeholders.
 */
function assertNoValues(input: ParsedSend): void {
  const { subject, body, html, text } = input
  if (![subject, body, html, text].some((source) => source?.includes('{{'))) return
  for (const field of ['variables', 'data'] as const) {
    if (Object.keys(input[field] ?? {}).length === 0) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${field}" needs a template: otherwise the text would be sent with its "{{".`,
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

function missing(field: string, required = `The field "${field}"`): NotifierError {
  return new NotifierError('missing_required_field', {
    message: `${required} is required unless a template is named.`,
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

/** The likely channel of a send before it is judged. */
export function channelHint(input: ParsedSend, template: Template | null): string | undefined {
  return input.channel ?? template?.channel
}

function notConfigured(channel: string, { channels }: ProviderRegistry): NotifierError {
  const others = channels.filter((other) => other !== channel)
  return new NotifierError('invalid_channel', {
    message: `The channel "${channel}" is not configured here; configured: ${others.join(', ') || 'none'}.`,
    details: { field: 'channel' },
  })
}
