import type { Organization } from '../../domain/organization.ts'
import type { Tracking } from '../../domain/track-html.ts'
import type { Page, PageRequest } from './page.ts'

export interface OrganizationRepository {
  /** Null when the id is taken, also in a race. */
  create(organization: NewOrganization): Promise<Organization | null>
  get(id: string): Promise<Organization | null>
  /** Newest first. */
  list(page: PageRequest): Promise<Page<Organization>>
  /** Null: unknown. */
  update(
    id: string,
    change: {
      readonly name?: string | undefined
      readonly plan?: string | null | undefined
      readonly smsCountries?: readonly string[] | null | undefined
      readonly retentionDays?: number | null | undefined
      readonly tracking?: Tracking | undefined
    },
  ): Promise<Organization | null>
}

/** `retentionDays` absent: null; `tracking` absent: off. */
export type NewOrganization = Omit<Organization, 'createdAt' | 'retentionDays' | 'tracking'> &
  Partial<Pick<Organization, 'retentionDays' | 'tracking'>>
