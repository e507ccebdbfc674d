import { NotifierError } from '../errors/notifier-error.ts'
import type { Tracking } from '../links/tracking.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { OwnRetention } from './retention.ts'
import { wrong } from './scope.ts'

/** The default organization. It always exists. */
export const DEFAULT_ORGANIZATION = 'org_default'

/** The name of the default organization until it is changed. */
export const DEFAULT_NAME = 'Default'

export const ORGANIZATION_ID: RegExp = /^org_[A-Za-z0-9_-]{1,60}$/
/** Valid ids in words, to follow "must be". */
export const ORGANIZATION_ID_FORM = '"org_" and 1 to 60 letters, digits, hyphens or underscores'

/** @throws NotifierError `invalid_parameter` */
export function assertOrganizationId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || !ORGANIZATION_ID.test(id)) throw wrong('organizationId', ORGANIZATION_ID_FORM)
}

/** How an organization appears in its messages and on its pages. */
export interface Branding {
  readonly name: string | null
  /** An https URL. */
  readonly logoUrl: string | null
  /** `#rrggbb`, in lower case. */
  readonly color: string | null
}

/** Of an organization without one, or of none. */
export const UNBRANDED: Branding = Object.freeze({ name: null, logoUrl: null, color: null })

/** The stored value of a tenant, whose id is `org_<value>`. */
export interface OrganizationValue {
  /** Display name. */
  readonly name: string
  /** Name of a plan in the option `plans`. Null: the default (`org_default`: unlimited, others: free). */
  readonly plan: string | null
  /** Permitted calling codes (`+49`) of text messages. Null: all; empty: none. */
  readonly smsCountries: readonly string[] | null
  /** Addresses and domains that its mails may come from, in canonical form. Null: as the providers allow. */
  readonly senders: readonly string[] | null
  /** How long its data is kept. Null: as in its plan. */
  readonly retention: OwnRetention | null
  /** The locale of its messages. Null or absent: the default. */
  readonly locale?: string | null | undefined
  /** The time zone of dates in its messages. Null or absent: the default. */
  readonly timeZone?: string | null | undefined
  /** How it appears to recipients. Null, also in a field, or absent: the default. */
  readonly branding?: Branding | null | undefined
  /** Tracking of its HTML mails. */
  readonly tracking: Tracking
  /** Its deletion has begun: nothing is accepted or created for it. `force`: jobs are removed, too. Null: it stays. */
  readonly deleting: 'plain' | 'force' | null
  /** When another process may continue the deletion. Epoch milliseconds. */
  readonly purgeAt?: number | undefined
}

/** The list of organizations for which something can be accepted or created. */
export const OPEN = 'open'

/** Storages know this kind: they accept nothing for an organization that is not in the list {@link OPEN}. */
export const organizationKind: RecordKind<OrganizationValue> = {
  name: 'organizations',
  version: 1,
  notPersonal: 'a tenant',
  list: ({ deleting }) => (deleting === null ? OPEN : 'deleting'),
  due: ({ deleting, purgeAt = 0 }) => (deleting === null ? null : purgeAt),
}

/** Time for the process that has begun a deletion. Another one continues it afterwards. */
const PURGE_MS = 5 * 60_000

/**
 * The value once a deletion has begun. `force` stays.
 *
 * @param now the storage's time, in epoch milliseconds
 *
 * @example
 * const value = beginDeletion(organization, true, now)
 */
export function beginDeletion(value: OrganizationValue, force: boolean, now: number): OrganizationValue {
  return { ...value, deleting: force ? 'force' : (value.deleting ?? 'plain'), purgeAt: now + PURGE_MS }
}

/**
 * The error `not_found` of an organization that does not exist, or is being deleted.
 *
 * @example
 * if (organization === undefined) throw unknownOrganization('org_acme')
 */
export function unknownOrganization(id: string): NotifierError {
  return new NotifierError('not_found', {
    message: `No organization has the id "${id.slice(0, 100)}". Check the id.`,
    details: { field: 'organizationId' },
  })
}
