import { NotifierError } from '../errors/notifier-error.ts'
import { envelopeAddress } from './mail-parts.ts'

/** Most entries of a list of senders. */
export const MAX_SENDERS = 1_000

/** What an entry of a list of senders must be. */
export const SENDER =
  'must be an e-mail address, or a domain such as example.com, which allows every address there'

/** The canonical form of an entry: an address, or a domain. Null: neither. */
export function canonicalSender(entry: string): string | null {
  if (entry.includes('@')) return envelopeAddress(entry)?.toLowerCase() ?? null
  const address = entry.includes('.') ? envelopeAddress(`a@${entry}`) : null
  return address === null ? null : address.slice(2)
}

/**
 * True: the list has the address, or its domain. A domain means itself only, not its subdomains.
 *
 * @param sender an address in canonical form
 * @param senders entries in canonical form
 */
export function isListedSender(sender: string, senders: ReadonlySet<string>): boolean {
  return senders.has(sender) || senders.has(sender.slice(sender.lastIndexOf('@') + 1))
}

/**
 * @param senders the list of an organization; null: it has none
 * @throws NotifierError `invalid_sender`
 */
export function assertSenderOfOrganization(sender: string, senders: readonly string[] | null): void {
  if (senders === null || isListedSender(sender, new Set(senders))) return
  throw invalidSender(`"${sender}" is not in the organization's list of senders.`)
}

function invalidSender(what: string): NotifierError {
  return new NotifierError('invalid_sender', {
    message: `${what} Use an allowed sender in "email.from" and in "from" of the category, or leave it out.`,
    details: { field: 'email.from' },
  })
}
