import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import { assertRecipient, suppressedAddress } from '../channels/recipient.ts'
import { laterDelay } from '../delivery/later-delay.ts'
import { isNotifierError } from '../errors/notifier-error.ts'
import { throttled } from '../loop/throttled.ts'
import type { NotificationFailure } from '../notification/notification.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { usable } from './addressed.ts'
import type { PeopleFinder, ResolvedPerson } from './finder.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** The address for a message to a person now. */
export type AddressNow =
  | { readonly kind: 'send'; readonly to: string }
  /** The person has no address any more, or none that can be used. */
  | { readonly kind: 'end'; readonly why: NotificationFailure }
  /** The resolver fails, or its answer about the person is invalid. */
  | { readonly kind: 'later'; readonly message: string; readonly delayMs: number }

/** A person resolved within this time is not resolved again. */
const FRESH_MS = 60_000
/** Tenants read these: they do not name the option. */
const NO_ADDRESS = 'The recipient has no address on this channel.'
const NOT_FOUND_OUT = 'The address of the recipient could not be looked up.'

/**
 * Looks up the address for a message. Undefined: its stored address, because it has no recipient, or was resolved just
 * now.
 */
export type FindAddress = (job: NotificationJob) => Promise<AddressNow> | undefined

const SKIP: AddressNow = { kind: 'end', why: { code: 'no_address', message: NO_ADDRESS } }

/** Dependencies of the late look-up. */
interface LookUpServices {
  readonly kinds: Kinds
  readonly clock: Clock
  onError(error: unknown): void
}

/** @param people undefined: no resolver is configured here */
export function createFindAddress(
  people: PeopleFinder | undefined,
  storage: Pick<Storage, 'notifications'>,
  { kinds, clock, onError }: LookUpServices,
): FindAddress {
  const tellFault = throttled(onError, () => clock.monotonic())

  async function find(job: NotificationJob): Promise<AddressNow> {
    const { to, recipient, createdAt, channel } = job.notification
    const isFresh = clock.now() - createdAt <= FRESH_MS
    if (people === undefined || recipient === null || isFresh) return to === '' ? SKIP : { kind: 'send', to }
    let addresses: readonly string[]
    try {
      addresses = addressesOf(await people.one(job.organizationId, recipient), channel)
    } catch (error) {
      const isToldOf = isNotifierError(error) && error.code === 'invalid_person'
      if (!isToldOf) tellFault(error)
      return {
        kind: 'later',
        message: isToldOf ? error.message : NOT_FOUND_OUT,
        delayMs: await laterDelay(storage, job),
      }
    }
    return nextAddress(storage, job, recipient, kinds.of(channel), addresses, people)
  }

  return (job) => {
    const { recipient, createdAt, to } = job.notification
    if (recipient === null) return undefined
    if (to !== '' && (people === undefined || clock.now() - createdAt <= FRESH_MS)) return undefined
    return find(job)
  }
}

function addressesOf(person: ResolvedPerson | null, channel: string): readonly string[] {
  return person?.channels[channel] ?? []
}

/** Whether no other notification of its group is on its channel: then it follows the person's address. */
async function isAlone(
  { notifications }: Pick<Storage, 'notifications'>,
  { organizationId, notification: { channel, groupId } }: NotificationJob,
): Promise<boolean> {
  if (groupId === null) return true
  let found = 0
  let cursor: string | undefined
  do {
    const page = await notifications.list(
      { organizationId, groupId, channel },
      { limit: 2, offset: 0, cursor },
    )
    found += page.items.length
    cursor = page.nextCursor ?? undefined
  } while (found < 2 && cursor !== undefined)
  return found < 2
}

/** Another address must have the form that its channel needs. The gate decides whether the message may go there. */
async function nextAddress(
  storage: Pick<Storage, 'notifications'>,
  job: NotificationJob,
  recipient: string,
  kind: ChannelKind,
  addresses: readonly string[],
  people: PeopleFinder,
): Promise<AddressNow> {
  const { to } = job.notification
  if (addresses.includes(to)) return { kind: 'send', to }
  const alone = await isAlone(storage, job)
  const assertUsable = (address: string): void => assertRecipient(kind, address)
  try {
    const found = usable(addresses, recipient, assertUsable, people)
    if (found.some((address) => isSame(kind, address, to))) return { kind: 'send', to }
    // The other devices of a group have their own notifications.
    const [next] = alone ? found : []
    return next === undefined ? SKIP : { kind: 'send', to: next }
  } catch (error) {
    if (!isNotifierError(error) || error.status >= 500) throw error
    const { code, message } = error
    return alone ? { kind: 'end', why: { code, message } } : SKIP
  }
}

function isSame(kind: ChannelKind, address: string, to: string): boolean {
  return to !== '' && suppressedAddress(kind, address) === suppressedAddress(kind, to)
}
