import type { RefusedMessage } from '../../core/accept/refused.ts'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { assertRecipient, suppressedAddress } from '../../core/channels/recipient.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import { lowerAddress } from '../../core/notification/lower-address.ts'
import type { Person, PersonalRecords } from '../../core/people/personal-records.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import type { Refusal } from './model.ts'

/** Most refusals of an organization, and characters of all together: one may have some thousand. */
const MOST_REFUSALS = 100
const MOST_TOGETHER = 64 * 1024

/** Times in epoch milliseconds. */
export interface StoredRefusal extends Omit<Refusal, 'at' | 'firstAt'> {
  readonly at: number
  readonly firstAt: number
  /** Rises with the time. */
  readonly number: number
}

/** The refusals of an organization, in one record with its id: to add some is one write, and there is nothing to clear away. */
export interface RefusalsValue {
  /** Latest first. */
  readonly refusals: readonly StoredRefusal[]
}

export const refusalKind: RecordKind<RefusalsValue> = { name: 'refusals', version: 1 }

export const NO_REFUSALS: RefusalsValue = { refusals: [] }

/** Of a text. */
const MOST_CHARACTERS = 300
const MOST_OF_ADDRESS = 1_000

/** Only what explains it: no text, no variables. A message may have any form. */
export function refusalOf(
  { message, prepared, error, sentBy }: RefusedMessage,
  { known }: Kinds,
  at: number,
  number: number,
): StoredRefusal {
  const given = isFields(message) ? message : {}
  const { field, channel: ofError } = error.details ?? {}
  const channel = cut(prepared?.channel ?? given.channel ?? ofError, MOST_CHARACTERS)
  const { template } = given
  const to = cut(prepared?.to ?? given.to, MOST_OF_ADDRESS)
  return {
    number,
    at,
    firstAt: at,
    count: 1,
    code: error.code,
    message: cut(error.message, MOST_CHARACTERS) ?? '',
    field: cut(field, MOST_CHARACTERS),
    channel,
    to: to !== null && isAddress(known, channel, to) ? to : null,
    recipient: cut(prepared?.recipient ?? given.recipient, MAX_RECIPIENT_ID),
    template: cut(isFields(template) ? template[channel ?? ''] : template, MOST_CHARACTERS),
    sentBy:
      sentBy === undefined
        ? null
        : { id: cut(sentBy.id, MOST_CHARACTERS) ?? '', name: cut(sentBy.name, MOST_CHARACTERS) },
  }
}

/** An erasure finds no other text. Before the channel is known, only a kind that checks addresses tells one. */
function isAddress(known: Kinds['known'], channel: string | null, to: string): boolean {
  const kinds = [...known.values()].filter((kind) =>
    channel === null ? kind.checkRecipient !== undefined : kind.name === channel,
  )
  return kinds.some((kind) => {
    try {
      assertRecipient(kind, to)
      return true
    } catch {
      return false
    }
  })
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A copy: a slice would keep the whole text in memory. */
function cut(value: unknown, most: number): string | null {
  if (typeof value !== 'string' || value === '') return null
  return value.length <= most ? value : Buffer.from(value.slice(0, most)).toString()
}

/** Equal refusals have one name. */
function nameOf(one: StoredRefusal): string {
  const { code, message, field, channel, to, recipient, template, sentBy } = one
  return JSON.stringify([code, message, field, channel, to, recipient, template, sentBy?.id, sentBy?.name])
}

/** The latest refusals of an organization. */
export interface LatestRefusals {
  /** Of all together. */
  readonly characters: number
  /** Adds the latest one, which may repeat another. The oldest ones make room for it. */
  add(one: StoredRefusal): void
  /** Latest first. */
  list(): readonly StoredRefusal[]
}

/** @param refusals in any order */
export function latestRefusals(refusals: readonly StoredRefusal[] = []): LatestRefusals {
  /** By name, oldest first. */
  const all = new Map<string, StoredRefusal>()
  let characters = 0

  function remove(name: string): void {
    if (all.delete(name)) characters -= name.length
  }

  function add(one: StoredRefusal): void {
    const name = nameOf(one)
    const { firstAt = one.firstAt, count = 0 } = all.get(name) ?? {}
    remove(name)
    all.set(name, { ...one, firstAt, count: count + one.count })
    characters += name.length
    for (const [oldest] of all) {
      if (all.size <= MOST_REFUSALS && characters <= MOST_TOGETHER) break
      remove(oldest)
    }
  }

  for (const one of refusals.toSorted((one, other) => one.number - other.number)) add(one)
  return {
    get characters() {
      return characters
    },
    add,
    list: () => [...all.values()].reverse(),
  }
}

/** Whether a refused message went to an address, in any spelling. */
export function wentTo({ channel, to }: StoredRefusal, kind: ChannelKind, address: string): boolean {
  if (to === null || (channel !== null && channel !== kind.name)) return false
  const sought = address.slice(0, MOST_OF_ADDRESS)
  return lowerAddress(to) === lowerAddress(sought) || canonical(kind, to) === canonical(kind, sought)
}

/** What was refused may be no address. */
function canonical(kind: ChannelKind, to: string): string {
  try {
    return suppressedAddress(kind, to)
  } catch {
    return to
  }
}

/** A message to a person is in the list only while the person is stored. */
export const personalRefusals: PersonalRecords<RefusalsValue> = {
  kind: refusalKind,
  concerns: ({ refusals }, person) => refusals.some((one) => isAbout(one, person)),
  erased: (value, person) => ({
    ...value,
    refusals: value.refusals.filter((one) => !isAbout(one, person)),
  }),
  exported: ({ value }, person) => ({
    type: 'refusals',
    refusals: value.refusals.filter((one) => isAbout(one, person)).map(shown),
  }),
}

function isAbout(one: StoredRefusal, { recipient, address }: Person): boolean {
  return (
    (recipient !== null && one.recipient === recipient) ||
    (address !== null && wentTo(one, address.kind, address.to))
  )
}

export function shown({ number: _, at, firstAt, ...refusal }: StoredRefusal): Refusal {
  return { at: new Date(at).toISOString(), firstAt: new Date(firstAt).toISOString(), ...refusal }
}
