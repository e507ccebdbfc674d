import { NotifierError } from '../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION, type Organization } from '../domain/organization.ts'
import { NO_TRACKING } from '../domain/track-html.ts'
import type { NewOrganization, OrganizationRepository } from '../ports/storage/organizations.ts'
import { pageOf } from './page.ts'
import { type MemoryState, nextNumber, type StoredOrganization } from './state.ts'

export function memoryOrganizations(
  state: MemoryState,
): Omit<OrganizationRepository, 'beginDeletion' | 'purge'> {
  return {
    async create(organization) {
      return createOrganization(state, organization)
    },
    async get(id) {
      const stored = state.organizations.get(id)
      return stored === undefined ? null : toOrganization(stored)
    },
    async list(page) {
      return pageOf(state.organizations.values(), page, toOrganization)
    },
    async update(id, { name, plan, smsCountries, retentionDays, tracking }) {
      const stored = state.organizations.get(id)
      if (stored === undefined || stored.deleting) return null
      const changed = {
        ...stored,
        name: name ?? stored.name,
        plan: plan === undefined ? stored.plan : plan,
        smsCountries: smsCountries === undefined ? stored.smsCountries : smsCountries,
        retentionDays: retentionDays === undefined ? stored.retentionDays : retentionDays,
        tracking: tracking ?? stored.tracking,
      }
      state.organizations.set(id, changed)
      return toOrganization(changed)
    },
  }
}

/** Creates `org_default`, which always exists. */
export function createDefaultOrganization(state: MemoryState): void {
  createOrganization(state, { id: DEFAULT_ORGANIZATION, name: 'Default', plan: null, smsCountries: null })
}

/** @throws NotifierError `not_found` if the organization does not exist or is being deleted */
export function requireOrganization(state: MemoryState, id: string): void {
  if (isOpen(state, id)) return
  throw new NotifierError('not_found', { message: `No organization has the id "${id}".` })
}

/** True: it exists and is not being deleted. */
export function isOpen(state: MemoryState, id: string): boolean {
  const stored = state.organizations.get(id)
  return stored !== undefined && stored.deleting === undefined
}

function createOrganization(
  state: MemoryState,
  { id, name, plan, smsCountries, retentionDays = null, tracking = NO_TRACKING }: NewOrganization,
): Organization | null {
  if (state.organizations.has(id)) return null
  const created = { id, name, plan, smsCountries, retentionDays, tracking, createdAt: state.now() }
  state.organizations.set(id, { ...created, number: nextNumber(state) })
  return created
}

function toOrganization({ number, force, ...organization }: StoredOrganization): Organization {
  return organization
}
