import type { SuppressionReason } from '../../domain/suppression.ts'
import type { Page, PageRequest } from './page.ts'

/** Identifies an entry of the suppression list. */
export interface SuppressionKey {
  readonly organizationId: string
  readonly channel: string
  /** The result of `suppressedAddress` of the domain. Compared byte by byte. */
  readonly address: string
}

/** An address to which an organization sends nothing on a channel. */
export interface Suppression extends SuppressionKey {
  readonly reason: SuppressionReason
  /** Origin of the entry, for people. */
  readonly source: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface SuppressionRepository {
  /**
   * Adds an entry. An existing one for the key stays unchanged: a later report never hides the first. Of ten concurrent
   * calls one stores, and all return the same entry.
   *
   * @returns the stored entry
   * @throws NotifierError `not_found` if the organization does not exist
   */
  add(entry: Omit<Suppression, 'createdAt'>): Promise<Suppression>
  /** False: there is none. */
  remove(organizationId: string, channel: string, address: string): Promise<boolean>
  /** Newest first. */
  list(
    organizationId: string,
    filter: { readonly channel?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Suppression>>
  /**
   * The reason why each address is suppressed, in order. Null: it is not. One query for the set, before every send and
   * every attempt: almost free while the list is empty. Never cached.
   */
  match(keys: readonly SuppressionKey[]): Promise<(SuppressionReason | null)[]>
}
