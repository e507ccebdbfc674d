import type { Organization } from '../../domain/organization.ts'
import type { Page, PageRequest } from './page.ts'

export interface OrganizationRepository {
  /** False when the id is taken, also in a race. The storage sets `createdAt`; see the answer of {@link get}. */
  create(organization: Omit<Organization, 'createdAt'>): Promise<Organization | null>
  get(id: string): Promise<Organization | null>
  list(page: PageRequest): Promise<Page<Organization>>
  /** Null: unknown. */
  update(
    id: string,
    change: { readonly name?: string | undefined; readonly plan?: string | null | undefined },
  ): Promise<Organization | null>
}
