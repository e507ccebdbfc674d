import assert from 'node:assert/strict'
import { uploadKind } from '../../core/accept/upload.ts'
import { ERASED_ADDRESS } from '../../core/notification/erased-fact.ts'
import type {
  FollowingWrite,
  KeepingInsert,
  RecordInsert,
  RecordRemoval,
  RecordReplacement,
  RecordWrite,
  StoredRecord,
  WriteAnswer,
} from '../../core/ports/storage/records.ts'
import type { Follow, Storage, StorageStart } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import {
  DEFAULT_ORGANIZATION,
  type OrganizationValue,
  organizationKind,
} from '../../core/tenancy/organization.ts'
import { unique } from './fixtures.ts'

/** Any fields. Without a name it has no key, without a group no list. */
export interface Item {
  readonly name?: string | null
  readonly group?: string | null
  readonly [field: string]: unknown
}

/** One name per organization, one list per group. */
export const itemKind: RecordKind<Item> = {
  name: 'contract_items',
  version: 1,
  key: ({ name }, organizationId) => (name ? keyOf(name, organizationId) : null),
  list: ({ group }) => group ?? null,
}

/** The same kind in a later release, whose values have a label. */
export const newerKind: RecordKind<Item & { readonly label: string }> = {
  ...itemKind,
  version: 2,
  upgrade: (value, from) => ({ ...value, label: `from ${from}` }),
}

export interface Other {
  readonly reason: string
  readonly source: string | null
}

/** Without keys and lists. */
export const otherKind: RecordKind<Other> = { name: 'contract_others', version: 1 }

export interface Reminder {
  /** Epoch milliseconds. Null: never. */
  readonly at: number | null
  readonly note?: string
}

/** Falls due. */
export const reminderKind: RecordKind<Reminder> = {
  name: 'contract_reminders',
  version: 1,
  notPersonal: 'of a test',
  due: ({ at }) => at,
}

/** The same kind in an earlier release, which did not fall due. */
export const plainReminderKind: RecordKind<Reminder> = { name: 'contract_reminders', version: 1 }

/** The key of an item. */
export function keyOf(name: string, organizationId: string | null = DEFAULT_ORGANIZATION): string {
  return `${organizationId}\n${name}`
}

/** The id of what follows from facts about a recipient. */
export function recipientId(
  to: string,
  organizationId: string = DEFAULT_ORGANIZATION,
  channel = 'email',
): string {
  return `${organizationId}\n${channel}\n${to}`
}

/**
 * A fact that suppresses keeps its address, or else the recipient; one of a click removes a recipient of the reason `manual`.
 * An address is reversed where it is not to be stored.
 */
export const follow: Follow = ({ organizationId, channel, to }, facts) => {
  return facts.flatMap(({ type, suppress, provider = null, address = to }): FollowingWrite[] => {
    const isErased = to === ERASED_ADDRESS
    const id = recipientId(isErased ? reversed(address) : address, organizationId, channel)
    if (type === 'clicked') return [removal(otherKind, id, { reason: 'manual' })]
    return suppress === undefined ? [] : [keeping(id, organizationId, { reason: suppress, source: provider })]
  })
}

export const reversed = (address: string): string => [...address].reverse().join('')

/** What the contract starts every storage with. */
export const CONTRACT_START: StorageStart = { kinds: [itemKind, otherKind, uploadKind, reminderKind], follow }

export function keeping(id: string, organizationId: string | null, value: Other): KeepingInsert<Other> {
  return { kind: otherKind, do: 'insert', id, organizationId, value, ifTaken: 'keep' }
}

export function insertion(value: Item = {}, change: Partial<RecordInsert<Item>> = {}): RecordInsert<Item> {
  const id = `item_${unique()}`
  return { kind: itemKind, do: 'insert', id, organizationId: DEFAULT_ORGANIZATION, value, ...change }
}

/** @param kind the version that writes */
export function replacement(
  { id, revision }: Pick<StoredRecord, 'id' | 'revision'>,
  value: Item,
  kind: RecordKind<Item> = itemKind,
): RecordReplacement<Item> {
  return { kind, do: 'replace', id, revision, value }
}

export function removal<Value extends object>(
  kind: RecordKind<Value>,
  id: string,
  only?: Partial<Value>,
): RecordRemoval<Value> {
  return { kind, do: 'remove', id, only }
}

/** Writes one set, which must succeed. */
export async function write(
  storage: Storage,
  ...set: readonly RecordWrite[]
): Promise<readonly (StoredRecord | null)[]> {
  const [answer] = await storage.records.write([set])
  assert.ok(answer?.kind === 'written', `the set was not written: ${JSON.stringify(answer)}`)
  assert.equal(answer.records.length, set.length)
  return answer.records
}

/** Writes one set; returns the kind of its answer, with the position of the refused write. */
export async function outcome(storage: Storage, ...set: readonly RecordWrite[]): Promise<string> {
  return outcomeOf((await storage.records.write([set]))[0])
}

export function outcomeOf(answer: WriteAnswer | undefined): string {
  if (answer === undefined) return 'none'
  return 'at' in answer ? `${answer.kind} ${answer.at}` : answer.kind
}

/** Inserts an item; returns it as stored. */
export async function item(
  storage: Storage,
  value: Item = {},
  change: Partial<RecordInsert<Item>> = {},
): Promise<StoredRecord<Item>> {
  const [record] = await write(storage, insertion(value, change))
  assert.ok(record !== undefined && record !== null)
  return record as StoredRecord<Item>
}

export async function find<Value extends object>(
  storage: Storage,
  kind: RecordKind<Value>,
  id: string,
): Promise<StoredRecord<Value> | null> {
  const [record] = await storage.records.get(kind, [{ id }])
  assert.ok(record !== undefined)
  return record
}

/** The reasons kept for recipients, in order. */
export async function reasons(storage: Storage, ids: readonly string[]): Promise<(string | null)[]> {
  const found = await storage.records.get(
    otherKind,
    ids.map((id) => ({ id })),
  )
  return found.map((record) => record?.value.reason ?? null)
}

/** Changes fields of an organization. */
export async function changeOrganization(
  storage: Storage,
  id: string,
  change: Partial<OrganizationValue>,
): Promise<void> {
  const stored = await find(storage, organizationKind, id)
  assert.ok(stored !== null)
  const { revision, value } = stored
  await write(storage, {
    kind: organizationKind,
    do: 'replace',
    id,
    revision,
    value: { ...value, ...change },
  })
}
