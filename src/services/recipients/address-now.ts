import { isNotifierError } from '../../domain/errors/notifier-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedJob } from '../../ports/storage/claim.ts'
import type { TimelineEntry } from '../../ports/storage/notifications.ts'
import type { Storage } from '../../ports/storage/storage.ts'
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
/** First delay while the resolver fails, doubled each time up to the longest. */
const FIRST_DELAY_MS = 30_000
const LONGEST_DELAY_MS = 15 * 60_000

const MOST_DOUBLINGS = 10

const NO_ADDRESS = 'The recipient has no address on this channel.'

/**
 * Looks up where a message goes. Undefined: to the address that it has, because it has no recipient, or was resolved
 * just now.
 */
export type FindAddress = (job: NotificationJob) => Promise<AddressNow> | undefined

/** @param people null: no resolver is configured here */
export function createFindAddress(
  people: PeopleFinder | null,
  { notifications }: Pick<Storage, 'notifications'>,
  clock: Clock,
): FindAddress {
  /** From the history, because other processes may have failed before. */
  async function delayOf({ notification: { id, expiresInMs } }: NotificationJob): Promise<number> {
    const entries = await notifications.timeline(id)
    const last = entries.findLastIndex((entry) => !isFailedLookUp(entry))
    const delayMs = FIRST_DELAY_MS * 2 ** Math.min(entries.length - last - 1, MOST_DOUBLINGS)
    return Math.min(delayMs, LONGEST_DELAY_MS, expiresInMs ?? LONGEST_DELAY_MS)
  }

  async function find(job: NotificationJob): Promise<AddressNow> {
    const { organizationId, notification } = job
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
      return { kind: 'later', message, delayMs: await delayOf(job) }
    }
  }

  return (job) => {
    const { recipient, createdAt, to } = job.notification
    if (recipient === null) return undefined
    if (to !== '' && (people === null || clock.now() - createdAt <= FRESH_MS)) return undefined
    return find(job)
  }
}

/** No attempt was made, because the person could not be looked up. */
function isFailedLookUp({ type, fact }: TimelineEntry): boolean {
  return (
    type === 'attempt_failed' &&
    fact?.unasked === true &&
    fact.attempt === undefined &&
    fact.code === 'service_unavailable'
  )
}

/** The other devices of a group have notifications of their own. */
function nextAddress(addresses: readonly string[], to: string, groupId: string | null): string | undefined {
  if (addresses.includes(to)) return to
  return groupId === null ? addresses[0] : undefined
}
