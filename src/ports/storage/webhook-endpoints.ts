import type { EventType } from '../../domain/facts.ts'
import type { Page, PageRequest } from './page.ts'

/** Where an organization receives events. */
export interface WebhookEndpoint {
  /** `wh_<value>`; also the lane of its jobs. */
  readonly id: string
  readonly organizationId: string
  readonly url: string
  readonly events: readonly EventType[]
  /** SPEC.md: success is `200`; an endpoint may opt into any `2xx`. */
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  /** Why it is disabled. */
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  /** Encrypted `whsec_…` secrets, newest first; opaque to the storage. */
  readonly secrets: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface WebhookEndpointRepository {
  /** @throws NotifierError `not_found` when the organization does not exist. */
  create(endpoint: Omit<WebhookEndpoint, 'createdAt' | 'status' | 'disabledReason'>): Promise<WebhookEndpoint>
  /** Any organization's; null: unknown. */
  get(id: string): Promise<WebhookEndpoint | null>
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<WebhookEndpoint>>
  /** Removes it with its jobs and its delivery log. False: unknown. */
  delete(id: string): Promise<boolean>
}
