import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { organizationChange, organizationInput, trackingOf } from '../../domain/input/organization.ts'
import { DEFAULT_ORGANIZATION, type Organization } from '../../domain/organization.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { PlanFinder } from '../limits/plan-of.ts'
import { assertTrackable, type Links } from '../links/links.ts'
import { listOf, listReader } from '../list.ts'
import type { Notifier } from '../notifier.ts'
import { byId, organizationOf, parseSubject, type Scope, unknownOrganization } from '../scope.ts'
import type { OrganizationRecord } from './records.ts'

const readList = listReader('organizations', {})

/** The organization use cases, and what the other services need of them. */
export interface Organizations {
  readonly api: Notifier['organizations']
  /**
   * The organization of a call, known to exist. Remembered, because organizations are never deleted.
   *
   * @param inside where it and its plan are looked up, so that what follows finds both without a look-up of its own
   * @throws NotifierError `not_found`
   */
  existing(scope: Scope | undefined, inside?: AcceptReads): Promise<string>
}

const MAX_KNOWN = 100_000

export function createOrganizations(
  storage: Storage,
  ids: IdGenerator,
  plans: PlanFinder,
  links: Pick<Links, 'canTrack'>,
): Organizations {
  const known = new Set([DEFAULT_ORGANIZATION])

  function remember(id: string): void {
    if (known.size >= MAX_KNOWN) known.clear()
    known.add(id)
  }

  async function find(id: string, from: Pick<AcceptReads, 'organizations'> = storage): Promise<Organization> {
    const organization = await byId(id, (known) => from.organizations.get(known))
    if (organization === null) throw unknownOrganization(id)
    remember(id)
    return organization
  }

  return {
    async existing(scope, inside) {
      const id = organizationOf(scope)
      if (!known.has(id)) await find(id, inside)
      if (inside !== undefined) await plans.of(id, inside)
      return id
    },
    api: {
      async create(input) {
        const parsed = parseSubject(organizationInput, input)
        const {
          id = ids.random('org'),
          name,
          plan = null,
          smsCountries = null,
          retentionDays = null,
        } = parsed
        const tracking = trackingOf(parsed.tracking)
        assertTrackable(tracking, links)
        plans.assertKnown(plan)
        const organization = await storage.organizations.create({
          id,
          name,
          plan,
          smsCountries,
          retentionDays,
          tracking,
        })
        if (organization === null) {
          throw new NotifierError('already_exists', {
            message: `An organization with the id "${id}" exists.`,
            details: { field: 'id' },
          })
        }
        remember(id)
        return view(organization)
      },
      async get(id) {
        return view(await find(id))
      },
      async list(query) {
        const { page } = readList(query)
        return listOf('organizations', await storage.organizations.list(page), page, view)
      },
      async update(id, change) {
        const parsed = parseSubject(organizationChange, change)
        plans.assertKnown(parsed.plan ?? null)
        const { tracking: wanted, ...others } = parsed
        const tracking = wanted === undefined ? undefined : trackingOf(wanted)
        assertTrackable(tracking, links)
        const organization = await byId(id, (known) =>
          storage.organizations.update(known, {
            ...others,
            ...(tracking === undefined ? {} : { tracking }),
          }),
        )
        plans.forget(id)
        if (organization === null) throw unknownOrganization(id)
        return view(organization)
      },
    },
  }
}

function view({ createdAt, ...organization }: Organization): OrganizationRecord {
  return { ...organization, createdAt: new Date(createdAt).toISOString() }
}
