import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import { NO_TRACKING } from '../../../src/core/links/tracking.ts'
import type { KeepingInsert, StoredRecord } from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import {
  DEFAULT_NAME,
  DEFAULT_ORGANIZATION,
  type OrganizationValue,
  organizationKind,
} from '../../../src/core/tenancy/organization.ts'

/** A record as tables have it. `created_at` is epoch milliseconds. */
export interface RecordRow {
  readonly seq: number
  readonly id: string
  /** Empty: none. */
  readonly organization: string
  readonly revision: number
  /** Version of the kind that wrote it. */
  readonly version: number
  readonly created_at: number
  /** JSON. */
  readonly value: string
}

/** The columns that a kind derives from a value. */
export interface RecordColumns {
  readonly id: string
  /** Empty: none. */
  readonly organization: string
  readonly key: string | null
  readonly list: string | null
  readonly version: number
  /** JSON. */
  readonly value: string
  /** When it falls due, in epoch milliseconds. Null: never. */
  readonly due: number | null
  /** 1: its kind falls due. */
  readonly timed: 0 | 1
}

/** What a record counts besides its value: the rest of its row, and its index entries. */
export const ROW_BYTES = 200

/**
 * The bytes that a record counts.
 *
 * @param value its JSON
 *
 * @example
 * const size = bytesOf(JSON.stringify({ name: 'Acme' }))
 */
export function bytesOf(value: string): number {
  return Buffer.byteLength(value) + ROW_BYTES
}

const NAME = /^[a-z][a-z_]{0,39}$/
const MAX_LENGTH = 250

/**
 * Checks a kind at the start.
 *
 * @throws Error for one that no table can have
 *
 * @example
 * for (const kind of kinds) assertKind(kind)
 */
export function assertKind({ name, version, upgrade }: RecordKind): void {
  if (!NAME.test(name)) throw new Error(`A kind of record cannot be named "${name}".`)
  if (version > 1 && upgrade === undefined) throw new Error(`The kind of record "${name}" lacks "upgrade".`)
}

/**
 * The columns to store for a value.
 *
 * @throws RangeError if the id or the key is empty or longer than 250 characters
 *
 * @example
 * const { key, list, value } = recordColumns(kind, 'tpl_1234', 'org_acme', { name: 'welcome' })
 */
export function recordColumns<Value extends object>(
  kind: RecordKind<Value>,
  id: string,
  organizationId: string | null,
  value: Value,
): RecordColumns {
  const key = kind.key?.(value, organizationId) ?? null
  for (const text of [id, key ?? id]) {
    if (text === '' || text.length > MAX_LENGTH) {
      throw new RangeError(
        `The kind of record "${kind.name}": ids and keys must have 1 to ${MAX_LENGTH} characters.`,
      )
    }
  }
  return {
    id,
    organization: organizationId ?? '',
    key,
    list: kind.list?.(value) ?? null,
    version: kind.version,
    value: JSON.stringify(value),
    due: dueOf(kind, value),
    timed: kind.due === undefined ? 0 : 1,
  }
}

/**
 * When the record falls due, as its kind says. Null: never.
 *
 * @throws RangeError if the kind answers no time
 *
 * @example
 * const dueAt = dueOf(kind, { name: 'Ada' })
 */
export function dueOf<Value extends object>(kind: RecordKind<Value>, value: Value): number | null {
  const due = kind.due?.(value) ?? null
  if (due === null || Number.isSafeInteger(due)) return due
  throw new RangeError(
    `The kind of record "${kind.name}": "due" must answer whole milliseconds or null, not ${due}.`,
  )
}

/**
 * The lease of a claim of a due record, in milliseconds: twice as long for each claim, at most two hours.
 *
 * @param claims since the last write of the record, with this one
 *
 * @example
 * const leaseUntil = now + dueLeaseMs(60_000, 1)
 */
export function dueLeaseMs(leaseMs: number, claims: number): number {
  return Math.min(Math.ceil(leaseMs) * 2 ** Math.min(claims - 1, 20), LONGEST_LEASE_MS)
}

/**
 * Reads a record, and upgrades a value of an older version.
 *
 * @param readAt the storage's time in epoch milliseconds
 *
 * @example
 * const [row] = await query<RecordRow>('SELECT * FROM records WHERE id = $1', ['tpl_1234'])
 * const record = row && toRecord(kind, row, now)
 */
export function toRecord<Value extends object>(
  kind: RecordKind<Value>,
  row: RecordRow,
  readAt: number,
): StoredRecord<Value> {
  const { id, organization, revision, version, created_at: createdAt } = row
  const stored = JSON.parse(row.value)
  const value = version < kind.version && kind.upgrade !== undefined ? kind.upgrade(stored, version) : stored
  return { id, organizationId: organization === '' ? null : organization, revision, createdAt, readAt, value }
}

/**
 * True: the value has the fields of `only`, which are compared as JSON.
 *
 * @example
 * hasFields({ reason: 'stop', source: null }, { reason: 'stop' }) // true
 */
export function hasFields(value: object, only: object = {}): boolean {
  return Object.entries(only).every(
    ([name, wanted]) => JSON.stringify(value[name as keyof object]) === JSON.stringify(wanted),
  )
}

/** Creates `org_default`, which always exists. */
export const defaultOrganization: KeepingInsert<OrganizationValue> = {
  kind: organizationKind,
  do: 'insert',
  id: DEFAULT_ORGANIZATION,
  organizationId: null,
  value: {
    name: DEFAULT_NAME,
    plan: null,
    smsCountries: null,
    senders: null,
    retention: null,
    tracking: NO_TRACKING,
    deleting: null,
  },
  ifTaken: 'keep',
}
