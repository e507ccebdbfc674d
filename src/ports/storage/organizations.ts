import type { Organization } from '../../domain/organization.ts'
import type { Tracking } from '../../domain/track-html.ts'
import type { Page, PageRequest } from './page.ts'

export interface OrganizationRepository {
  /** Null: the id is taken, also in a race. */
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
  /**
   * Begins the deletion of an organization and removes its API keys, in one commit. From then on every process refuses
   * with `not_found` to accept or create anything for it and to change it; {@link get} and {@link list} show it as
   * `deleting` until {@link purge} has removed it. A deletion cannot be undone, nor can `force`.
   *
   * @param force removes jobs, too; without it a deletion does not begin while there are any
   * @returns number of jobs that prevented it, at most 1,000; 0: it has begun; null: unknown
   */
  beginDeletion(id: string, force: boolean): Promise<number | null>
  /**
   * One step of a deletion, in one commit: removes at most `most` notifications with all related rows, or as many rows
   * of another kind, and at last the organization itself. Without `force`, rows with a job stay until the job has
   * ended. Idempotency records and the keys that deduplicate receipts stay until they expire.
   */
  purge(id: string, most: number): Promise<PurgeAnswer>
}

export interface PurgeAnswer {
  /** Number of removed notifications. */
  readonly notifications: number
  /**
   * `more`: the next step removes more. `jobs`: jobs remain, in a deletion without `force`. `transactions`:
   * transactions that were open when the deletion began may still store rows. `nothing`: the organization is gone, or
   * its deletion has not begun.
   */
  readonly left: 'more' | 'jobs' | 'transactions' | 'nothing'
}

/** `retentionDays` absent: null. `tracking` absent: off. */
export type NewOrganization = Omit<Organization, 'createdAt' | 'deleting' | 'retentionDays' | 'tracking'> &
  Partial<Pick<Organization, 'retentionDays' | 'tracking'>>
