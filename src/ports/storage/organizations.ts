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
  /**
   * Begins the deletion of an organization and removes its API keys, in one commit. From then on every process refuses to
   * accept or create anything for it, and to change it, with `not_found`; {@link get} and {@link list} show it as `deleting`
   * until {@link purge} has removed it. A deletion that has begun goes on; `force` stays once it was given.
   *
   * @param force removes jobs, too; without it a deletion does not begin while there are any
   * @returns how many jobs kept it from beginning, at most 1,000; 0: it has begun; null: unknown
   */
  beginDeletion(id: string, force: boolean): Promise<number | null>
  /**
   * One step of a deletion that has begun, in one commit: removes at most `most` notifications, with everything about them, or
   * as many rows of another kind; in the end the organization itself. Without `force` what has a job stays until the job
   * has ended. Idempotency records and the keys by which receipts are deduplicated stay until they expire.
   */
  purge(id: string, most: number): Promise<PurgeAnswer>
}

export interface PurgeAnswer {
  /** So many notifications were removed. */
  readonly notifications: number
  /**
   * `more`: the next step removes more. `jobs`: what still has a job, in a deletion without `force`. `transactions`: some that
   * were open when the deletion began may still store something. `nothing`: it is gone, or its deletion has not begun.
   */
  readonly left: 'more' | 'jobs' | 'transactions' | 'nothing'
}

/** `retentionDays` absent: null; `tracking` absent: off. */
export type NewOrganization = Omit<Organization, 'createdAt' | 'deleting' | 'retentionDays' | 'tracking'> &
  Partial<Pick<Organization, 'retentionDays' | 'tracking'>>
