import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import { type Plan, type Plans, perMinutePlans, UNLIMITED } from '../../domain/plans.ts'
import type { Tracking } from '../../domain/track-html.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { unknownOrganization } from '../scope.ts'

/** The plan of an organization and its name, where its text messages may go, and what is counted. */
export interface OrganizationPlan {
  readonly name: string
  readonly plan: Plan
  /** Calling codes; null: everywhere. */
  readonly smsCountries: readonly string[] | null
  /** What is counted of its HTML mails. */
  readonly tracking: Tracking
  /** Nothing new is accepted for it. */
  readonly deleting: boolean
}

/** Finds plans; what is known stays known for a few seconds, so that a request costs no look-up of its own. */
export interface PlanFinder {
  /** @param from where an unknown one is looked up */
  of(
    organizationId: string,
    from?: Pick<AcceptReads, 'organizations'>,
  ): OrganizationPlan | Promise<OrganizationPlan>
  /** @throws NotifierError `invalid_parameter` when no plan has this name; null is the default and always known */
  assertKnown(name: string | null): void
  /** Forgets an organization that has changed. */
  forget(organizationId: string): void
}

/** How long another process may still use an organization's earlier plan and countries. */
const FRESH_MS = 5_000
const MAX_KNOWN = 100_000

/**
 * `org_default` is unlimited unless `plans` names it, other organizations default to `free`; where
 * `plans` has none of that name, they are unlimited, too.
 */
export function createPlanFinder(storage: Storage, plans: Plans, clock: Clock): PlanFinder {
  const known = new Map<string, OrganizationPlan & { readonly until: number }>()
  let changes = 0

  async function load(
    organizationId: string,
    from: Pick<AcceptReads, 'organizations'>,
  ): Promise<OrganizationPlan> {
    const before = changes
    const organization = await from.organizations.get(organizationId)
    if (organization === null) throw unknownOrganization(organizationId)
    const { smsCountries, tracking, deleting = false } = organization
    const found = { ...choose(organizationId, organization.plan), smsCountries, tracking, deleting }
    // What was read before a change, and arrived after it, would outlast it.
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
    // A plan that the configuration no longer knows must not become a licence for everything.
    return plan === undefined ? { name: 'free', plan: plans.free ?? perMinutePlans.free } : { name, plan }
  }

  return {
    of(organizationId, from = storage) {
      const fresh = known.get(organizationId)
      return fresh !== undefined && fresh.until > clock.monotonic() ? fresh : load(organizationId, from)
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
