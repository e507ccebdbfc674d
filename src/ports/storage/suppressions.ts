import type { SuppressionReason } from '../../domain/suppression.ts'
import type { Page, PageRequest } from './page.ts'

/** Names an entry of the suppression list: there is at most one for it. */
export interface SuppressionKey {
  readonly organizationId: string
  readonly channel: string
  /** As `suppressedAddress` of the domain gives it; the storage compares it byte by byte. */
  readonly address: string
}

/** An address that an organization sends nothing more to on a channel. */
export interface Suppression extends SuppressionKey {
  readonly reason: SuppressionReason
  /** Where it comes from, for people. */
  readonly source: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface SuppressionRepository {
  /**
   * Adds an entry. Where there is one for the key it stays as it is, reason, source and time: what is reported later or
   * twice never hides what the recipient did first. Of ten in a race one is stored, and all get that one.
   *
   * @returns the entry as it is stored
   * @throws NotifierError `not_found` when the organization does not exist.
   */
  add(entry: Omit<Suppression, 'createdAt'>): Promise<Suppression>
  /** False: there was none. */
  remove(organizationId: string, channel: string, address: string): Promise<boolean>
  /** Newest first. */
  list(
    organizationId: string,
    filter: { readonly channel?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Suppression>>
  /**
   * Why each address is suppressed, in order; null: it is not. One query for the set, asked before every send and every
   * attempt: it costs almost nothing while the list is empty. Never answers from a cache.
   */
  match(keys: readonly SuppressionKey[]): Promise<(SuppressionReason | null)[]>
}
