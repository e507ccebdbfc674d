import type { Feature } from '../../core/feature.ts'
import { deletionOfOrganizations } from './deletion.ts'
import type { Served } from './routes.ts'
import { createOrganizations, type OrganizationServices } from './service.ts'

/** The tenants of a notifier, and their deletion. */
export const organizations: Feature<Served, OrganizationServices> = {
  name: 'organizations',
  create: (core) => ({
    api: { organizations: createOrganizations(core) },
    due: [deletionOfOrganizations(core.storage.deletions, core.clock)],
  }),
}
