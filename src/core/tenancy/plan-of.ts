import { NotifierError } from '../errors/notifier-error.ts'
import type { Tracking } from '../links/tracking.ts'
import type { Clock } from '../ports/clock.ts'
import type { AcceptReads } from '../ports/storage/accept.ts'
import type { RecordReads, RecordStores } from '../records/record-stores.ts'
import { ALL_ORGANIZATIONS } from './all-organizations.ts'
import { brandingOf } from './branding.ts'
import { type Branding, DEFAULT_ORGANIZATION, organizationKind, unknownOrganization } from './organization.ts'
import { type Plan, type Plans, perMinutePlans, UNLIMITED } from './plans.ts'

/** The plan of an organization with its name, permitted countries, senders, language, branding and tracking. */
export interface OrganizationPlan {
  readonly name: string
  readonly plan: Plan
  /** Calling codes. Null: all countries. */
  readonly smsCountries: readonly string[] | null
  /** Addresses and domains that its mails may come from. Null: as the providers allow. */
  readonly senders: readonly string[] | null
  /** Null: the default. */
  readonly locale: string | null
  /** Null: the default. */
  readonly timeZone: string | null
  readonly branding: Branding
  /** The tracking of its HTML mails. */
  readonly tracking: Tracking
  /** True: nothing new is accepted for it. */
  readonly deleting: boolean
}

/** How an organization appears; a promise only if it is in no cache. @throws NotifierError `not_found` */
export type BrandingFinder = (organizationId: string) => Branding | Promise<Branding>

/** Whether organizations exist. */
export interface OrganizationFinder {
  /**
   * Resolves if the organization exists. Cached for a few seconds with its plan.
   *
   * @param inside reads inside a transaction, so that later lookups find both in the cache
   * @throws NotifierError `not_found`, also during a deletion
   */
  existing(id: string, inside?: AcceptReads): Promise<void>
  /**
   * Resolves if the organization exists, and for {@link ALL_ORGANIZATIONS}. For what only reads.
   *
   * @throws NotifierError `not_found`, also during a deletion
   */
  readable(id: string): Promise<void>
}

/** Finds plans. Caches them for a few seconds, so that requests need no lookup. */
export interface PlanFinder extends OrganizationFinder {
  /** Those that organizations may have. */
  readonly all: Plans
  /** @param from source of a lookup */
  of(organizationId: string, from?: RecordReads): OrganizationPlan | Promise<OrganizationPlan>
  /** @param named the plan that the organization was given; null: none */
  choose(organizationId: string, named: string | null): Pick<OrganizationPlan, 'name' | 'plan'>
  /** @throws NotifierError `invalid_parameter` for an unknown plan; null is the default and always valid */
  assertKnown(name: string | null): void
  /** Removes a changed organization from the cache. */
  forget(organizationId: string): void
}

/** How long other processes may use outdated plans and countries. */
const FRESH_MS = 5_000
const MAX_KNOWN = 100_000

/**
 * `org_default` is unlimited unless `plans` has that name. Other organizations default to `free`; they are unlimited if
 * `plans` has no plan of that name.
 */
export function createPlanFinder(stores: RecordStores, plans: Plans, clock: Clock): PlanFinder {
  const store = stores.of(organizationKind)
  const known = new Map<string, OrganizationPlan & { readonly until: number }>()
  let changes = 0

  async function load(organizationId: string, from: RecordReads | undefined): Promise<OrganizationPlan> {
    const before = changes
    const organization = await store.find({ id: organizationId }, from)
    if (organization === null) throw unknownOrganization(organizationId)
    const { value } = organization
    const { plan, smsCountries, senders, locale = null, timeZone = null, tracking, deleting } = value
    const branding = brandingOf(organizationId, value)
    const limits = {
      smsCountries,
      senders,
      locale,
      timeZone,
      branding,
      tracking,
      deleting: deleting !== null,
    }
    const found = { ...choose(organizationId, plan), ...limits }
    // A result read before a change must not enter the cache after it.
    if (changes !== before) return found
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(organizationId, { ...found, until: clock.monotonic() + FRESH_MS })
    return found
  }

  function choose(organizationId: string, named: string | null): Pick<OrganizationPlan, 'name' | 'plan'> {
    if (named === null && !Object.hasOwn(plans, organizationId)) {
      return organizationId === DEFAULT_ORGANIZATION || plans.free === undefined
        ? { name: 'unlimited', plan: UNLIMITED }
        : { name: 'free', plan: plans.free }
    }
    const name = named ?? organizationId
    const plan = plans[name]
    // A plan that is no longer configured must not mean unlimited.
    return plan === undefined ? { name: 'free', plan: plans.free ?? perMinutePlans.free } : { name, plan }
  }

  function of(organizationId: string, from?: RecordReads): OrganizationPlan | Promise<OrganizationPlan> {
    const fresh = known.get(organizationId)
    return fresh !== undefined && fresh.until > clock.monotonic() ? fresh : load(organizationId, from)
  }

  async function existing(id: string, inside?: AcceptReads): Promise<void> {
    const { deleting } = await of(id, inside?.records)
    if (deleting) throw unknownOrganization(id)
  }

  return {
    all: plans,
    of,
    choose,
    existing,
    async readable(id) {
      if (id !== ALL_ORGANIZATIONS) await existing(id)
    },
    assertKnown(name) {
      if (name === null || Object.hasOwn(plans, name)) return
      throw new NotifierError('invalid_parameter', {
        message: `"plan" must be one of ${Object.keys(plans).join(', ')}.`,
        details: { field: 'plan' },
      })
    },
    forget(organizationId) {
      changes += 1
      known.delete(organizationId)
    },
  }
}
