import type { List } from '../../core/records/list.ts'
import type { OrganizationChange, OrganizationInput } from './input.ts'
import type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationQuery,
  OrganizationRecord,
  PlanRecord,
} from './model.ts'

export interface Organizations {
  /**
   * Creates an organization, with a random id unless one is given.
   *
   * @throws NotifierError `already_exists`, `invalid_parameter`
   *
   * @example
   * await notifier.organizations.create({ id: 'org_acme', name: 'Acme', plan: 'pro' })
   */
  create(organization: OrganizationInput): Promise<OrganizationRecord>
  /**
   * One organization.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { name, plan } = await notifier.organizations.get('org_acme')
   */
  get(id: string): Promise<OrganizationRecord>
  /**
   * Newest first.
   *
   * @example
   * const { items } = await notifier.organizations.list({ limit: 100 })
   */
  list(query?: OrganizationQuery): Promise<List<OrganizationRecord>>
  /**
   * The plans that organizations may have: those of the option `plans`.
   *
   * @example
   * const { items } = await notifier.organizations.plans()
   * console.log(items.map(({ name }) => name))
   */
  plans(): Promise<{ readonly items: readonly PlanRecord[] }>
  /**
   * Changes the given fields.
   *
   * @throws NotifierError `not_found`, `invalid_parameter`
   *
   * @example
   * await notifier.organizations.update('org_acme', { plan: 'enterprise', retention: { logDays: 90 } })
   */
  update(id: string, change: OrganizationChange): Promise<OrganizationRecord>
  /**
   * Removes an organization and its data in small steps. Its API keys stop working at once. Continues an interrupted
   * deletion.
   *
   * @throws NotifierError `organization_in_use` while messages wait, unless `force`; `not_found`, `invalid_parameter`
   *
   * @example
   * await notifier.organizations.delete('org_acme', { force: true })
   */
  delete(id: string, options?: DeleteOrganizationOptions): Promise<OrganizationDeletion>
}
