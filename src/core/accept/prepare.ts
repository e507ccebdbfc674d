import type { ChannelKind } from '../channels/channel-kind.ts'
import { partsOf } from '../channels/parts-of.ts'
import type { Destination, ProviderRegistry } from '../channels/provider-registry.ts'
import { assertRecipient } from '../channels/recipient.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Gate } from '../gate/gate.ts'
import type { LimitsFinder } from '../gate/regions.ts'
import type { Bounds } from '../input/bounds.ts'
import { mergedMetadata } from '../input/metadata.ts'
import type { LinkSource } from '../links/link-target.ts'
import { assertUnsubscribable, exampleUrls, type Links, type Urls, urlsOf } from '../links/links.ts'
import type { Processor } from '../loop/processor.ts'
import type { Category } from '../notification/category.ts'
import type { CategorySource } from '../notification/category-source.ts'
import { lowerAddress } from '../notification/lower-address.ts'
import type {
  NewNotification,
  Notification,
  NotificationContent,
  PinnedText,
} from '../notification/notification.ts'
import { LATEST_TIME } from '../notification/outcome.ts'
import { contentRemoved } from '../notification/sensitive.ts'
import { addressed } from '../people/addressed.ts'
import type { PeopleFinder, ResolvedPerson } from '../people/finder.ts'
import { localeOf, timeZoneOf } from '../people/language.ts'
import type { PersonHashes } from '../people/person-hashes.ts'
import type { Clock } from '../ports/clock.ts'
import type { PartsRefusal } from '../ports/provider.ts'
import type { BrandingFinder } from '../tenancy/plan-of.ts'
import { wrong } from '../tenancy/scope.ts'
import type { CodeTemplates } from '../text/code-templates.ts'
import type { CompiledTemplates } from '../text/compiled-templates.ts'
import type { Work } from '../text/extent.ts'
import { assertFormat } from '../text/format.ts'
import type { Library } from '../text/library.ts'
import { isBlank, renderContent } from '../text/render.ts'
import type { Template } from '../text/template.ts'
import type { TextReader } from '../text/text-store.ts'
import { blank, missing, templateNotFound, textOf } from './content.ts'
import type { ParsedSend, SendSchema, SingleSend } from './input.ts'
import { assertCompleted, uploadsIn } from './named-uploads.ts'
import { assertAhead } from './times.ts'

/** What the validation of a send needs. */
export interface AcceptServices {
  readonly gate: Gate
  readonly categories: CategorySource
  readonly registry: ProviderRegistry
  readonly compiled: CompiledTemplates
  readonly library: Library
  readonly texts: TextReader
  readonly code: CodeTemplates
  readonly brandingOf: BrandingFinder
  readonly clock: Clock
  readonly processor: Processor
  readonly links: Links
  readonly hashes: PersonHashes
  readonly bounds: Bounds
  /** The schema of a send with the parts of all known channel kinds. */
  readonly sendInput: SendSchema
  /** The senders that an organization may use. */
  readonly limitsOf: LimitsFinder
  newId(): string
  newGroupId(): string
  /** The application's people. Null: the option `recipients` is absent. */
  readonly people: PeopleFinder | undefined
}

/** What one send stores: a notification for each address. */
export type Group = readonly [NewNotification, ...NewNotification[]]

/**
 * Validates a send against everything except the storage's limits, in this order: channel, recipient, format, parts,
 * template, variables, segments, times.
 *
 * @param person of `input.recipient`; null: unknown, or there is none
 * @param template the template `input.template`; null: none
 * @param category the category that the input or the template names; null: none
 * @returns a notification for each address, of which the first may have none; a promise as for {@link textOf}
 * @param spent receives the cost of the rendering
 * @throws NotifierError as `Notifier.send`
 */
export function prepareSend(
  organizationId: string,
  input: SingleSend,
  person: ResolvedPerson | null,
  template: Template | null,
  category: Category | null,
  services: AcceptServices,
  spent?: Work,
): Group | Promise<Group> {
  const channel = channelOf(organizationId, input, template, services)
  const kind = services.registry.kinds.of(channel)
  const route = routeOf(kind, organizationId, services)
  const reaches = (address: string) => assertReached(kind, route, address, services)
  const { addresses, recipient } = addressed(kind, input, person, reaches, services.people)
  const locale = localeOf(input, person)
  const [to = '', ...others] = addresses
  assertFormat(kind, input)
  const given = partsOf(kind, input, services.registry.kinds)
  assertCompleted(kind, given)
  const parts = fromCategory(kind, given, category)
  assertParts(kind, parts, services.links, category ?? services.categories.default)
  assertCarried(kind, route, to, parts, services.registry, parts === given ? null : category)
  const id = services.newId()

  function grouped(text: PinnedText): Group {
    const content = { ...text, ...carriedOf(input, parts, locale) }
    const source = { organizationId, notification: { id, to, category: category?.id, recipient, content } }
    assertReadable(kind, input, source, template, services, spent)
    const first: NewNotification = {
      id,
      channel,
      to,
      content,
      lane: route.lane,
      priority: input.priority ?? 'normal',
      ...timesOf(input, services.clock.now()),
      metadata: mergedMetadata(template?.metadata, input.metadata),
      category: category?.id,
      uploads: uploadsIn(kind, parts),
      ...copiesOf(kind, to, parts),
    }
    return recipient === null ? [first] : groupOf({ ...first, recipient }, others, services)
  }

  if (input.template !== undefined && template === null)
    throw templateNotFound(input.template, organizationId, services.code)
  const text = textOf(kind, input, parts, template, services, {
    locale,
    timeZone: timeZoneOf(input, person),
    spent,
  })
  return text instanceof Promise ? text.then(grouped) : grouped(text)
}

function carriedOf(
  { sensitive }: ParsedSend,
  parts: unknown,
  locale: string | undefined,
): Pick<NotificationContent, 'parts' | 'sensitive' | 'locale'> {
  return {
    ...(parts === undefined ? {} : { parts }),
    ...(sensitive === true ? { sensitive: true as const } : {}),
    ...(locale === undefined ? {} : { locale }),
  }
}

/** The notifications to the addresses of a person. One without an address will be skipped. */
function groupOf(
  first: NewNotification,
  others: readonly string[],
  { newId, newGroupId }: AcceptServices,
): Group {
  if (others.length === 0) return [first]
  const shared = { ...first, groupId: newGroupId() }
  return [shared, ...others.map((other) => ({ ...shared, id: newId(), to: other }))]
}

/** A recipient without an address gets no link. */
function acceptUrls(kind: ChannelKind, source: LinkSource, links: Links): Urls {
  return source.notification.to === '' ? exampleUrls : urlsOf(kind, source, links)
}

/** @throws NotifierError if the text is blank, or too large for the channel */
function assertReadable(
  kind: ChannelKind,
  input: SingleSend,
  source: LinkSource & { readonly notification: { readonly content: NotificationContent } },
  template: Template | null,
  { compiled, links }: AcceptServices,
  spent: Work | undefined,
): void {
  if (kind.isBlank === undefined && kind.assertText === undefined) return
  const { content } = source.notification
  const pinned = 'body' in content || template === null ? null : compiled.of(template)
  const text = renderContent(kind, content, pinned, acceptUrls(kind, source, links), spent)
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
  { categories }: AcceptServices,
): Category | null | Promise<Category> {
  if (input.category !== undefined) return categories.existing(organizationId, input.category)
  const id = template?.category ?? null
  return id === null ? null : categories.existing(organizationId, id, template)
}

/**
 * A new notification from the pinned content of an old one, to the same recipient, due now, with an equally long
 * lifetime.
 *
 * @throws NotifierError `content_removed`, `invalid_channel`, `invalid_recipient`, `invalid_parameter`, or a provider's
 *   reason: the rules may have changed since the first accept
 */
export function prepareResend(original: Notification, services: AcceptServices): NewNotification {
  const { id, organizationId, channel, to, priority, sendAt, expiresAt, createdAt } = original
  const { metadata, recipient, category } = original
  const { turnedOff: _, delayed: __, ...content } = original.content
  if (content.removed === true) throw contentRemoved(original.content)
  const kind = services.registry.kinds.of(channel)
  const route = routeOf(kind, organizationId, services)
  // A recipient without an address: it will be skipped.
  if (to !== '') assertReached(kind, route, to, services)
  assertParts(kind, content.parts, services.links, null)
  assertCarried(kind, route, to, content.parts, services.registry)
  const mayTakeMs = expiresAt === null ? null : expiresAt - Math.max(createdAt, sendAt ?? 0)
  return {
    id: services.newId(),
    channel,
    to,
    content,
    lane: route.lane,
    priority,
    sendAt: null,
    expiresAt: mayTakeMs === null ? null : Math.min(services.clock.now() + mayTakeMs, LATEST_TIME),
    resendOf: id,
    metadata,
    recipient,
    category,
    uploads: uploadsIn(kind, content.parts),
    ...copiesOf(kind, to, content.parts),
  }
}

/** What copies add: as addressees the recipient and theirs, each address once; none of a message without an address. */
function copiesOf(
  kind: ChannelKind,
  to: string,
  parts: unknown,
): Pick<NewNotification, 'addressees' | 'copies'> {
  if (to === '') return { addressees: 0 }
  const given = parts === undefined ? [] : (kind.copiesOf?.(parts) ?? [])
  if (given.length === 0) return {}
  const copies = new Set(given.map((address) => canonicalOf(kind, address)))
  const { size } = new Set([canonicalOf(kind, to), ...copies])
  return { addressees: size, copies: [...new Set([...copies].map(lowerAddress))] }
}

function canonicalOf(kind: ChannelKind, address: string): string {
  return kind.canonical?.(address) ?? address
}

/** @throws NotifierError `invalid_channel` */
export function routeOf(
  { name }: ChannelKind,
  organizationId: string,
  { registry }: AcceptServices,
): Destination {
  const route = registry.of(name, organizationId)
  if (route === null) throw notConfigured(name, registry)
  return route
}

/** @throws NotifierError `invalid_email`, `invalid_phone`, `invalid_recipient` */
export function assertReached(
  kind: ChannelKind,
  { providers }: Destination,
  to: string,
  { registry }: AcceptServices,
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
 * Checks whether a provider of the recipient can carry the parts.
 *
 * @param sending the category whose sender is in the parts; null: none
 * @throws NotifierError with the reason of the first that refuses
 */
function assertCarried(
  { name: channel }: ChannelKind,
  { providers }: Destination,
  to: string,
  parts: unknown,
  registry: ProviderRegistry,
  sending: Category | null = null,
): void {
  if (to === '' || parts === undefined || providers === null) return
  let refusal: PartsRefusal | null = null
  for (const provider of providers) {
    if (!registry.accepts(provider, to)) continue
    const why = registry.refusalOf(provider, to, parts)
    if (why === null) return
    refusal ??= why
  }
  // No provider accepts the recipient any more: the lane decides.
  if (refusal === null) return
  const { code, message, field } = refusal
  if (code === 'invalid_sender' && sending !== null) {
    throw new NotifierError(code, {
      message: `No provider allows "${sending.from}", the "from" of the category "${sending.id}". Change it there, or name an allowed sender in the message.`,
      details: { field: 'category', channel, category: sending.id },
    })
  }
  throw new NotifierError(code, {
    message,
    details: { field: field === undefined ? channel : `${channel}.${field}`, channel },
  })
}

function channelOf(
  organizationId: string,
  input: SingleSend,
  template: Template | null,
  { code }: AcceptServices,
): string {
  const declared = input.channel ?? code.find(input.template)?.channel
  if (declared !== undefined) return declared
  if (input.template === undefined) throw missing('channel')
  if (template === null) throw templateNotFound(input.template, organizationId, code)
  return template.channel
}

function timesOf(
  input: ParsedSend,
  now: number,
): { readonly sendAt: number | null; readonly expiresAt: number | null } {
  const { sendAt = null, expiresAt = null } = input
  if (sendAt !== null) assertAhead(sendAt, now)
  if (expiresAt !== null && expiresAt <= Math.max(now, sendAt ?? 0)) {
    throw wrong('expiresAt', sendAt === null ? 'in the future' : 'after "sendAt" and in the future')
  }
  return { sendAt, expiresAt }
}

/** The likely channel of a send before it is validated. */
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
