import type { List, ListQuery } from '../../core/records/list.ts'
import type { OrganizationChange, OrganizationInput } from './input.ts'
import type { DeleteOrganizationOptions, OrganizationDeletion, OrganizationRecord } from './model.ts'

export interface Organizations {
  /** @throws NotifierError `already_exists`, `invalid_parameter` */
  create(organization: OrganizationInput): Promise<OrganizationRecord>
  /** @throws NotifierError `not_found` */
  get(id: string): Promise<OrganizationRecord>
  list(query?: ListQuery): Promise<List<OrganizationRecord>>
  /** @throws NotifierError `not_found`, `invalid_parameter` */
  update(id: string, change: OrganizationChange): Promise<OrganizationRecord>
  /**
   * Removes an organization and its data in small steps. Its API keys stop working at once. Continues an interrupted
   * deletion.
   *
   * @throws NotifierError `organization_in_use` while messages wait, unless `force`; `not_found`, `invalid_parameter`
   */
  delete(id: string, options?: DeleteOrganizationOptions): Promise<OrganizationDeletion>
}
