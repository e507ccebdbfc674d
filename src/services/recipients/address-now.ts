import { isNotifierError } from '../../domain/errors/notifier-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedJob } from '../../ports/storage/claim.ts'
import type { PeopleFinder } from './people.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** Where a message to a person goes now. */
export type AddressNow =
  | { readonly kind: 'send'; readonly to: string }
  /** The person has no address any more. */
  | { readonly kind: 'skip'; readonly message: string }
  /** The resolver fails. */
  | { readonly kind: 'later'; readonly message: string; readonly delayMs: number }

/** What was resolved within this time is not resolved again. */
const FRESH_MS = 60_000
/** Delay while the resolver fails. */
const LATER_MS = 30_000

const NO_ADDRESS = 'The recipient has no address on this channel.'

/**
 * Looks up where a message goes. Undefined: to the address that it has, because it has no recipient, or was resolved
 * just now.
 */
export type FindAddress = (job: NotificationJob) => Promise<AddressNow> | undefined

/** @param people null: no resolver is configured here */
export function createFindAddress(people: PeopleFinder | null, clock: Clock): FindAddress {
  async function find({ organizationId, notification }: NotificationJob): Promise<AddressNow> {
    const { to, recipient, channel, groupId, createdAt } = notification
    const isFresh = clock.now() - createdAt <= FRESH_MS
    if (people === null || recipient === null || isFresh)
      return to === '' ? { kind: 'skip', message: NO_ADDRESS } : { kind: 'send', to }
    try {
      const person = await people.one(organizationId, recipient)
      const next = nextAddress(person?.channels[channel] ?? [], to, groupId)
      return next === undefined ? { kind: 'skip', message: NO_ADDRESS } : { kind: 'send', to: next }
    } catch (error) {
      const message = isNotifierError(error) ? error.message : 'The resolver of recipients failed.'
      return { kind: 'later', message, delayMs: LATER_MS }
    }
  }

  return (job) => {
    const { recipient, createdAt, to } = job.notification
    if (recipient === null) return undefined
    if (to !== '' && (people === null || clock.now() - createdAt <= FRESH_MS)) return undefined
    return find(job)
  }
}

/** The other devices of a group have notifications of their own. */
function nextAddress(addresses: readonly string[], to: string, groupId: string | null): string | undefined {
  if (addresses.includes(to)) return to
  return groupId === null ? addresses[0] : undefined
}
