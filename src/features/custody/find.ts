import { domainSpellings, internationalDomain } from '../../core/channels/email-address.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { suppressedAddress } from '../../core/channels/recipient.ts'
import { concerns as namesOneOf } from '../../core/notification/erasure.ts'
import type { Fact } from '../../core/notification/facts.ts'
import { lowerAddress } from '../../core/notification/lower-address.ts'
import type { Notification } from '../../core/notification/notification.ts'
import type { MessageReceivedEvent } from '../../core/notification/received-message.ts'
import type { Person, PersonAddress, PersonalRecords } from '../../core/people/personal-records.ts'
import type { StoredReport } from '../../core/ports/storage/custody.ts'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../core/ports/storage/page.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { PersonInput } from './model.ts'
import type { Step } from './pace.ts'

/** Notifications per step: each may have a mebibyte. */
const NOTIFICATIONS = 25
const RECORDS = 50
const REPORTS = 100

/** Something that is stored about a person. */
export type Found =
  | { readonly of: 'notifications'; readonly items: readonly Notification[] }
  | {
      readonly of: 'copies'
      readonly items: readonly Notification[]
      /** The person's address, in canonical form. */
      readonly copyTo: string
    }
  | { readonly of: 'reports'; readonly items: readonly StoredReport[] }
  | {
      readonly of: 'record'
      readonly personal: PersonalRecords
      readonly record: StoredRecord
      readonly person: Person
    }

export interface FindServices {
  readonly storage: Storage
  readonly kinds: Kinds
  readonly step: Step
  personal(): readonly PersonalRecords[]
}

export function personOf({ recipient, channel, to }: PersonInput, kinds: Kinds): Person {
  return recipient === undefined
    ? { recipient: null, address: { kind: kinds.of(channel), to } }
    : { recipient, address: null }
}

/** An address as it was given, in its canonical form and in others, each with small letters A to Z: for texts. */
export function spellingsOf({ kind, to }: PersonAddress): readonly string[] {
  return [...new Set([to, ...domainSpellings(suppressedAddress(kind, to))].map(lowerAddress))]
}

type Finding = AsyncGenerator<Found, void, undefined>

/**
 * Goes through what an organization has stored about a person, in short steps: what names the id, or what names the address.
 * Another person may have the same address.
 */
export async function* find(services: FindServices, organizationId: string, person: Person): Finding {
  const { recipient, address } = person
  if (recipient !== null) yield* findOfRecipient(services, organizationId, recipient)
  if (address !== null) yield* findOfAddress(services, organizationId, address)
  yield* findRecords(services, organizationId, person)
}

async function* findOfRecipient(services: FindServices, organizationId: string, recipient: string): Finding {
  const { notifications } = services.storage
  const read = (page: PageRequest) => notifications.list({ organizationId, recipient }, page)
  for await (const items of pages(services, NOTIFICATIONS, read)) yield { of: 'notifications', items }
}

async function* findOfAddress(
  services: FindServices,
  organizationId: string,
  address: PersonAddress,
): Finding {
  const { notifications } = services.storage
  const { kind } = address
  const channel = kind.name
  // They are stored in their canonical form.
  const copyTo = suppressedAddress(kind, address.to)
  for (const filter of filtersOf(address)) {
    const sent = (page: PageRequest) => notifications.list({ organizationId, channel, ...filter }, page)
    for await (const found of pages(services, NOTIFICATIONS, sent)) {
      const items =
        filter.to === undefined ? found.filter(({ to }) => suppressedAddress(kind, to) === copyTo) : found
      yield { of: 'notifications', items }
    }
  }
  const copied = (page: PageRequest) => notifications.list({ organizationId, channel, copyTo }, page)
  for await (const items of pages(services, NOTIFICATIONS, copied)) yield { of: 'copies', items, copyTo }
  yield* findReports(services, organizationId, address)
}

/** What finds an address in all spellings, and perhaps others. */
function filtersOf({ kind, to }: PersonAddress): readonly Pick<NotificationFilter, 'to' | 'toPrefix'>[] {
  const canonical = suppressedAddress(kind, to)
  const domain = internationalDomain(canonical)
  // Such a domain has too many spellings, in capitals and small letters and with accents apart, to look for each.
  if (domain !== null) return [{ toPrefix: canonical.slice(0, domain) }]
  return [...new Set([to, canonical].map(lowerAddress))].map((each) => ({ to: each }))
}

async function* findReports(
  { storage, kinds, step }: FindServices,
  organizationId: string,
  address: PersonAddress,
): AsyncGenerator<Found, void, undefined> {
  const spellings = spellingsOf(address)
  const canonical = suppressedAddress(address.kind, address.to)

  function isAbout({ kind, json }: StoredReport): boolean {
    const value: unknown = JSON.parse(json)
    if (kind === 'receipt') return namesOneOf(value as Fact, spellings)
    const { channel, from } = (value as MessageReceivedEvent).data
    return channel === address.kind.name && suppressedAddress(kinds.of(channel), from) === canonical
  }

  let after: string | undefined
  do {
    const { items, next } = await step(async () => {
      const page = await storage.custody.reports({ organizationId, most: REPORTS, after })
      return { ...page, items: page.items.filter(isAbout) }
    })
    yield { of: 'reports', items }
    after = next ?? undefined
  } while (after !== undefined)
}

async function* findRecords(services: FindServices, organizationId: string, person: Person): Finding {
  for (const personal of services.personal()) {
    for await (const records of recordsOf(services, organizationId, person, personal))
      for (const record of records) yield { of: 'record', personal, record, person }
  }
}

async function* recordsOf(
  services: FindServices,
  organizationId: string,
  person: Person,
  { kind, ids, concerns }: PersonalRecords,
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  const { records } = services.storage
  if (ids === undefined) {
    const read = (page: PageRequest) => records.list(kind, { organizationId }, page)
    for await (const items of pages(services, RECORDS, read))
      yield items.filter(({ value }) => concerns?.(value, person))
    return
  }
  const refs = ids(organizationId, person).map((id) => ({ id }))
  if (refs.length === 0) return
  const found = await services.step(() => records.get(kind, refs))
  yield found.filter((record) => record !== null)
}

async function* pages<Row>(
  { step }: FindServices,
  limit: number,
  read: (page: PageRequest) => Promise<Page<Row>>,
): AsyncGenerator<readonly Row[], void, undefined> {
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await step(() => read({ limit, offset: 0, cursor }))
    yield items
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}
