import type { ChannelKind } from '../../domain/channel-kind.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { ParsedSend } from '../../domain/input/send.ts'
import type { PeopleFinder, ResolvedPerson } from './people.ts'

/** The addresses of a send. */
export interface Addressed {
  /** Empty: the person has none on the channel. */
  readonly addresses: readonly string[]
  /** Null: sent to an address. */
  readonly recipient: string | null
}

/** @param person as found; null: unknown @throws NotifierError `unknown_recipient` */
export function addressed(
  { name: channel }: ChannelKind,
  { to, recipient }: ParsedSend,
  person: ResolvedPerson | null,
): Addressed {
  if (recipient === undefined) return { addresses: [to ?? ''], recipient: null }
  if (person === null) throw unknownRecipient(recipient)
  return { addresses: person.channels[channel] ?? [], recipient }
}

/** The person with an id. Null: unknown. @param people null: the option `recipients` is absent */
export function personOf(
  people: PeopleFinder | null,
  organizationId: string,
  id: string,
): Promise<ResolvedPerson | null> {
  if (people === null) throw notResolvable()
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

/** The error for someone whom the application does not know. */
export function unknownRecipient(id: string): NotifierError {
  return new NotifierError('unknown_recipient', {
    message: `The recipient "${id}" is unknown.`,
    details: { field: 'recipient', recipient: id },
  })
}
