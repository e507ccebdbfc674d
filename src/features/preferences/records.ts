import { isDeepStrictEqual } from 'node:util'
import { addressName, type PersonHashes, recipientName } from '../../core/people/person-hashes.ts'
import type { PersonalRecords } from '../../core/people/personal-records.ts'
import type { DelayedOf } from '../../core/ports/storage/notifications.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import { datedCells, flatCells, type Preferences } from './model.ts'

/** Preferences as stored: one record per person, and one of an organization for all its people. */
export interface PreferenceValue extends Preferences {
  /** How the person is named. */
  readonly by: 'recipient' | 'address' | 'organization'
  /** Epoch milliseconds. Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** The time of what was chosen at the creation of a record, which its writer does not know. */
export const AT_CREATION = 0

/** Stored preferences, with the times of all choices. */
export function preferencesIn({ value, createdAt }: StoredRecord<PreferenceValue>): Preferences {
  const { channels, categories, quietHours, chosenAt } = value
  if (chosenAt === undefined) return { channels, categories, quietHours }
  const times = Object.entries(chosenAt).map(([cell, at]): [string, number] => [
    cell,
    at === AT_CREATION ? createdAt : at,
  ])
  return { channels, categories, quietHours, chosenAt: Object.fromEntries(times) }
}

export const preferenceKind: RecordKind<PreferenceValue> = { name: 'preferences', version: 1 }

/** Names the record of someone's preferences. */
export interface PreferenceOwner {
  readonly organizationId: string
  readonly by: PreferenceValue['by']
  /** The id of the record. */
  readonly id: string
  /** Names it in the audit log, without an address and without the application's id. */
  readonly auditTarget: string
  /** The messages that the preferences decide about. */
  readonly messages: DelayedOf
}

/** A person by the application's id. */
export function ownerByRecipient(
  hashes: Pick<PersonHashes, 'recipient'>,
  organizationId: string,
  recipient: string,
): PreferenceOwner {
  const hash = hashes.recipient(recipient)
  const messages = { by: 'recipient', recipient } as const
  const id = `${organizationId}\nrecipient\n${hash}`
  return { organizationId, by: 'recipient', id, auditTarget: recipientName(hash), messages }
}

/** A person by an address on a channel. @param address see {@link PersonHashes.address} */
export function ownerByAddress(organizationId: string, channel: string, address: string): PreferenceOwner {
  const id = `${organizationId}\naddress\n${channel}\n${address}`
  const messages = { by: 'address', address: addressName(channel, address) } as const
  return { organizationId, by: 'address', id, auditTarget: addressName(channel, address), messages }
}

/** The organization itself. */
export function ownerOrganization(organizationId: string): PreferenceOwner {
  const messages = { by: 'all' } as const
  const id = `${organizationId}\norganization`
  return { organizationId, by: 'organization', id, auditTarget: 'organization', messages }
}

/** What a person has turned off stays so, under the hash. Quiet hours go: they say something about a life. */
export const personalPreferences = (
  hashes: Pick<PersonHashes, 'address' | 'recipient'>,
): PersonalRecords<PreferenceValue> => ({
  kind: preferenceKind,
  ids: (organizationId, { recipient, address }) => [
    ...(recipient === null ? [] : [ownerByRecipient(hashes, organizationId, recipient).id]),
    ...(address === null
      ? []
      : [ownerByAddress(organizationId, address.kind.name, hashes.address(address.kind, address.to)).id]),
  ],
  erased(value) {
    const off = new Map([...flatCells(value)].filter(([, [on]]) => on === false))
    if (off.size === 0) return null
    const { by, updatedAt } = value
    const kept = { ...datedCells({ ...value, quietHours: undefined }, off), by, updatedAt }
    return isDeepStrictEqual(kept, value) ? value : kept
  },
  exported(record) {
    const { channels, categories, quietHours = null, chosenAt = {} } = preferencesIn(record)
    const { by, updatedAt } = record.value
    const times = Object.entries(chosenAt).map(([cell, at]) => [cell, new Date(at).toISOString()])
    return {
      type: 'preferences',
      by,
      channels,
      categories,
      quietHours,
      chosenAt: Object.fromEntries(times),
      updatedAt: new Date(updatedAt ?? record.createdAt).toISOString(),
    }
  },
})
