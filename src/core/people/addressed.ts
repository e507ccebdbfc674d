import type { ParsedSend } from '../accept/input.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import { suppressedAddress } from '../channels/recipient.ts'
import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import type { PeopleFinder, ResolvedPerson } from './finder.ts'

/** The addresses of a send. */
export interface Addressed {
  /** Empty: the person has none on the channel. */
  readonly addresses: readonly string[]
  /** Null: sent to an address. */
  readonly recipient: string | null
}

/**
 * @param person as found; null: unknown
 * @param assertUsable throws for an address that cannot be used
 * @param people reports the addresses that are left out
 * @throws NotifierError `unknown_recipient`, and the errors of `assertUsable`
 */
export function addressed(
  kind: ChannelKind,
  { to, recipient }: ParsedSend,
  person: ResolvedPerson | null,
  assertUsable: (address: string) => void,
  people: Pick<PeopleFinder, 'leftOut'> | undefined,
): Addressed {
  if (recipient === undefined) {
    const address = to ?? ''
    assertUsable(address)
    return { addresses: [address], recipient: null }
  }
  if (person === null) throw unknownRecipient(recipient)
  const addresses = usable(person.channels[kind.name] ?? [], recipient, assertUsable, people)
  return { addresses: distinct(kind, addresses), recipient }
}

/**
 * A person's addresses on a channel, without unusable ones.
 *
 * @param assertUsable throws for an unusable address
 * @param people reports the first fault if other addresses remain
 * @throws NotifierError the first fault, about the field `recipient`, if nothing else is left
 */
export function usable<Item>(
  items: readonly Item[],
  recipient: string,
  assertUsable: (item: Item) => void,
  people: Pick<PeopleFinder, 'leftOut'> | undefined,
): readonly Item[] {
  const faults: NotifierError[] = []
  const kept = items.filter((item) => {
    const fault = faultOf(() => assertUsable(item))
    if (fault !== null) faults.push(fault)
    return fault === null
  })
  const [first] = faults
  if (first === undefined) return items
  if (kept.length === 0) throw aboutRecipient(first, recipient)
  people?.leftOut(recipient, first)
  return kept
}

/** Faults of the service are thrown. */
function faultOf(assertUsable: () => void): NotifierError | null {
  try {
    assertUsable()
    return null
  } catch (error) {
    if (isNotifierError(error) && error.status < 500) return error
    throw error
  }
}

/** The error as one about the person. */
export function aboutRecipient(
  { code, message, status, details }: NotifierError,
  recipient: string,
): NotifierError {
  return new NotifierError(code, { message, status, details: { ...details, field: 'recipient', recipient } })
}

/** Without other spellings of one address. */
function distinct(kind: ChannelKind, addresses: readonly string[]): readonly string[] {
  if (addresses.length < 2) return addresses
  const bySpelling = new Map<string, string>()
  for (const address of addresses) {
    const canonical = suppressedAddress(kind, address)
    if (!bySpelling.has(canonical)) bySpelling.set(canonical, address)
  }
  return [...bySpelling.values()]
}

/** The person with an id. Null: unknown. @param people undefined: the option `recipients` is absent */
export function personOf(
  people: PeopleFinder | undefined,
  organizationId: string,
  id: string,
): Promise<ResolvedPerson | null> {
  if (people === undefined) throw notResolvable()
  return people.one(organizationId, id)
}

/** The error of a send to a recipient without the option `recipients`. */
export function notResolvable(): NotifierError {
  return new NotifierError('invalid_parameter', {
    status: 422,
    message: '"recipient" needs the option "recipients" of this notifier. Name an address as "to".',
    details: { field: 'recipient' },
  })
}

/** The error for a person whom the application does not know. */
export function unknownRecipient(id: string): NotifierError {
  return new NotifierError('unknown_recipient', {
    message: `The recipient "${id}" is unknown.`,
    details: { field: 'recipient', recipient: id },
  })
}
