import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { ProviderRegistry } from '../channels/provider-registry.ts'
import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { once } from '../loop/steps.ts'
import type { Category } from '../notification/category.ts'
import type { NewNotification } from '../notification/notification.ts'
import { unknownRecipient, usable } from '../people/addressed.ts'
import type { ResolvedPerson } from '../people/finder.ts'
import type { Work } from '../text/extent.ts'
import { formatOf } from '../text/format.ts'
import type { Template } from '../text/template.ts'
import { isSingle, type ParsedSend, type SingleSend, templateOn } from './input.ts'
import { type AcceptServices, assertReached, type Group, prepareSend, routeOf } from './prepare.ts'

/** What a message names. */
export interface Named {
  /**
   * The template of a message on one channel, or that for a channel. Null: it names none, or there is none.
   *
   * @throws NotifierError `invalid_template`
   */
  templateOn(channel: string | undefined): Template | null
  /**
   * The category that the message or else this template names. Null: none.
   *
   * @throws NotifierError `unknown_category`
   */
  categoryOf(template: Template | null): Category | null | Promise<Category | null>
}

/**
 * Validates a send on one channel or on several.
 *
 * @see prepareSend
 */
export function prepareMessage(
  organizationId: string,
  input: ParsedSend,
  person: ResolvedPerson | null,
  named: Named,
  services: AcceptServices,
  spent?: Work,
): Group | Promise<Group> {
  if (!isSingle(input)) return prepareChannels(organizationId, input, person, named, services, spent)
  const template = named.templateOn(undefined)
  const prepared = (category: Category | null) =>
    prepareSend(organizationId, input, person, template, category, services, spent)
  const category = named.categoryOf(template)
  return category instanceof Promise ? category.then(prepared) : prepared(category)
}

/**
 * Validates the message on each channel, also where the person has no address: it is not refused for some people only.
 *
 * @returns a notification for each address that the person has on the channels, as one group. On none: one without an
 *   address, of the first channel
 * @param spent receives the cost of the rendering
 * @throws NotifierError as {@link prepareSend}, with the channel in `details`
 */
async function prepareChannels(
  organizationId: string,
  input: ParsedSend,
  person: ResolvedPerson | null,
  { templateOn: templateFor, categoryOf }: Named,
  services: AcceptServices,
  spent: Work | undefined,
): Promise<Group> {
  const { recipient = '', channels = [] } = input
  const category = input.category === undefined ? null : await categoryOf(null)
  const { registry, people } = services
  assertConfigured(channels, organizationId, registry)
  const kinds = channels.map((name) => registry.kinds.of(name))
  assertPartsOf(channels, input, registry.kinds)
  assertBodyForAll(kinds, input)
  if (person === null) throw unknownRecipient(recipient)
  const { reached, faults } = reachable(kinds, organizationId, recipient, person, services)
  const groups: NewNotification[] = []
  const inShare = services.processor.share(organizationId)
  for (const kind of kinds) {
    try {
      const template = templateFor(kind.name)
      const ofOne = category ?? (await categoryOf(template))
      const prepared = inShare(
        once(() => {
          const own = onChannel(kind, channels, input)
          return prepareSend(organizationId, own, reached, template, ofOne, services, spent)
        }),
      )
      groups.push(...(prepared instanceof Promise ? await prepared : prepared))
    } catch (error) {
      throw aboutChannel(kind.name, input, error)
    }
  }
  const going = groups.filter(({ to }) => to !== '')
  const [fault] = faults
  if (going.length === 0 && fault !== undefined) throw fault
  for (const each of faults) people?.leftOut(recipient, each)
  return joined(going.length === 0 ? groups.slice(0, 1) : going, services)
}

/** One group. @param notifications at least one */
function joined([first, ...others]: readonly NewNotification[], { newGroupId }: AcceptServices): Group {
  if (first === undefined) throw new Error('A message has made no notification.')
  if (others.length === 0) return [first]
  const groupId = newGroupId()
  return [{ ...first, groupId }, ...others.map((other) => ({ ...other, groupId }))]
}

/** The message as one for a single channel: without what is for others. */
function onChannel({ name, html }: ChannelKind, channels: readonly string[], input: ParsedSend): SingleSend {
  const own: Record<string, unknown> = { ...input, channel: name, template: templateOn(input, name) }
  own.channels = undefined
  for (const other of channels) if (other !== name && Object.hasOwn(own, other)) own[other] = undefined
  if (html !== true) own.html = undefined
  return own
}

interface Reachable {
  /** The person with the usable addresses. */
  readonly reached: ResolvedPerson
  /** Of channels on which no address can be used. */
  readonly faults: readonly NotifierError[]
}

function reachable(
  kinds: readonly ChannelKind[],
  organizationId: string,
  recipient: string,
  person: ResolvedPerson,
  services: AcceptServices,
): Reachable {
  const faults: NotifierError[] = []
  function addressesOn(kind: ChannelKind): readonly string[] {
    const route = routeOf(kind, organizationId, services)
    const reaches = (address: string) => assertReached(kind, route, address, services)
    try {
      return usable(person.channels[kind.name] ?? [], recipient, reaches, services.people)
    } catch (error) {
      if (!isNotifierError(error) || error.status >= 500) throw error
      faults.push(error)
      return []
    }
  }
  const channels = Object.fromEntries(kinds.map((kind) => [kind.name, addressesOn(kind)]))
  return { reached: { ...person, channels }, faults }
}

/** @throws NotifierError `invalid_channel`, which names those that are not configured */
function assertConfigured(
  channels: readonly string[],
  organizationId: string,
  registry: ProviderRegistry,
): void {
  const unknown = channels.filter((channel) => registry.of(channel, organizationId) === null)
  if (unknown.length === 0) return
  const known = registry.channels.filter((channel) => !unknown.includes(channel)).join(', ') || 'none'
  throw new NotifierError('invalid_channel', {
    message: `"channels": ${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not configured here; configured: ${known}.`,
    details: { field: 'channels', channels: unknown },
  })
}

/** @throws NotifierError `invalid_parameter` for parts of a channel that is not named */
function assertPartsOf(channels: readonly string[], input: ParsedSend, { known }: Kinds): void {
  for (const { name, parts } of known.values()) {
    if (parts === undefined || input[name] === undefined || channels.includes(name)) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${name}" is for the channel ${name}; this message names ${channels.join(', ')}.`,
      details: { field: name, channels },
    })
  }
}

/** HTML as the `body` of a mail would be sent with its tags elsewhere. @throws NotifierError `invalid_parameter` */
function assertBodyForAll(kinds: readonly ChannelKind[], { body, format, template }: ParsedSend): void {
  if (template !== undefined) return
  const markup = kinds.find(({ html }) => html === true)
  const plain = kinds.find(({ html }) => html !== true)
  if (body === undefined || markup === undefined || plain === undefined) return
  if (formatOf(markup, format, body) !== 'html') return
  throw new NotifierError('invalid_parameter', {
    message: `"body": HTML cannot go to the channel ${plain.name}. Give "html" for ${markup.name} and "text" for the others.`,
    details: { field: 'body', channel: plain.name },
  })
}

/** Fields that mean the same on each channel. */
const SHARED: ReadonlySet<unknown> = new Set(['sendAt', 'expiresAt'])
/** The same without templates: values for none. */
const VALUES: ReadonlySet<unknown> = new Set(['variables', 'data'])
/** Fields of errors about the template, or its channel. */
const TEMPLATE: ReadonlySet<unknown> = new Set(['template', 'channel'])

/** Says on which channel the message was refused. */
function aboutChannel(channel: string, { html, template }: ParsedSend, error: unknown): unknown {
  if (!isNotifierError(error) || error.status >= 500) return error
  const { code, status, details, message, cause } = error
  if (code === 'missing_required_field' && html !== undefined) {
    return new NotifierError(code, {
      message: `The field "text" is required: the channel ${channel} does not take "html".`,
      details: { field: 'text', channel },
    })
  }
  const given = details?.field
  const ofTemplate = template !== undefined && TEMPLATE.has(given)
  const isNamed = details?.channel !== undefined
  if (!ofTemplate && (isNamed || SHARED.has(given) || (template === undefined && VALUES.has(given))))
    return error
  return new NotifierError(code, {
    status,
    message: isNamed ? message : `On the channel ${channel}: ${message}`,
    details: { ...details, ...(ofTemplate ? { field: `template.${channel}` } : {}), channel },
    cause,
  })
}
