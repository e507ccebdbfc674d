import type { WebhookEventType } from '../../domain/endpoint-health.ts'
import type { Page, PageRequest } from './page.ts'

/** Where an organization receives events. */
export interface WebhookEndpoint {
  /** `wh_<value>`; also the lane of its jobs. */
  readonly id: string
  readonly organizationId: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** Success is `200`; an endpoint may opt into any `2xx`. */
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  /** Why it is disabled. */
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  /** When the first attempt since the last success failed; epoch milliseconds. Null: it works, or was never asked. */
  readonly failingSince: number | null
  /** Encrypted `whsec_…` secrets, newest first, without those that have ended; opaque to the storage. */
  readonly secrets: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface WebhookEndpointRepository {
  /**
   * Registers an endpoint where its organization has fewer than `most`, also of many that are created at one time. Null: it
   * has as many, or more of before there was a bound, which it keeps.
   *
   * @throws NotifierError `not_found` when the organization does not exist
   */
  create(endpoint: NewWebhookEndpoint, most: number): Promise<WebhookEndpoint | null>
  /** Any organization's; null: unknown. */
  get(id: string): Promise<WebhookEndpoint | null>
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<WebhookEndpoint>>
  /**
   * Changes what is given. `disabled` holds its jobs as a settlement's `disable` does, for the reason `manual` unless it
   * was disabled before. `active` clears the reason, and leaves what is held where it is. `active` and a new address make
   * it healthy again: what failed before no longer counts. Null: unknown.
   */
  update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpoint | null>
  /**
   * Puts a new secret first. Those before end after `overlapMs` of the storage's clock, or when they were to end if that
   * is sooner, so that 0 ends them all at once. The `most` newest are kept. Of two at one time both are. Null: unknown.
   */
  rotateSecret(id: string, rotation: SecretRotation): Promise<WebhookEndpoint | null>
  /** The delivery log of an endpoint, newest first, its attempts in order. */
  deliveries(filter: DeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /**
   * Makes held and failed deliveries of events since then due at once, oldest first, each with all attempts of the
   * schedule before it; at most `most`, so that a long list never blocks others. Nothing is made due twice by two at one
   * time. `disabled`: the endpoint is, and nothing was done.
   *
   * @returns how many; fewer than `most`: none are left
   */
  redeliver(
    id: string,
    which: { readonly since: number; readonly most: number },
  ): Promise<number | 'disabled' | 'unknown'>
  /**
   * Makes one delivery due at once, whatever became of it, as {@link redeliver} would; one that waits for its next attempt
   * keeps those it had. One that is under way is left alone. Of ten at one time one makes it due. `unknown`: there is no
   * such endpoint or delivery. `disabled`: nothing was done.
   *
   * @returns the delivery after it
   */
  redeliverOne(id: string, eventId: string): Promise<WebhookDelivery | 'disabled' | 'unknown'>
  /**
   * Removes at most `most` deliveries of it with their jobs and attempts, and when no more are left itself: so that a long
   * log never blocks others. `more`: it is still there, with the rest of its deliveries.
   */
  delete(id: string, most: number): Promise<'deleted' | 'more' | 'unknown'>
}

/** What registers an endpoint; it is active. */
export type NewWebhookEndpoint = Omit<
  WebhookEndpoint,
  'createdAt' | 'status' | 'disabledReason' | 'failingSince'
>

/** Absent: unchanged. */
export type WebhookEndpointChange = {
  readonly [Field in 'url' | 'events' | 'successStatus' | 'status']?: WebhookEndpoint[Field] | undefined
}

export interface SecretRotation {
  /** Encrypted. */
  readonly secret: string
  readonly overlapMs: number
  /** At least 1. */
  readonly most: number
}

export interface DeliveryFilter {
  readonly endpointId: string
  readonly state?: WebhookDelivery['state'] | undefined
}

/** One event on its way to one endpoint, or arrived. */
export interface WebhookDelivery {
  /** The `webhook-id`. */
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly payload: string
  /** `held`: the endpoint was disabled; it waits for a redelivery. */
  readonly state: 'pending' | 'delivered' | 'failed' | 'held'
  /** When the event was announced; epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: readonly LoggedAttempt[]
}

/** One request to a webhook endpoint. */
export interface DeliveryAttempt {
  readonly attempt: number
  /** Null: no answer. */
  readonly status: number | null
  /** The beginning of the answer's body, or why there was none. */
  readonly response: string
  readonly durationMs: number
  readonly succeeded: boolean
  /**
   * Absent: nothing was sent, or nobody knows: the process ended before it could say, or a version that did not keep this
   * recorded the attempt.
   */
  readonly request?: SentRequest | undefined
}

/** What a request cannot be told by later: all else of it follows from its event. */
export interface SentRequest {
  /** The endpoint's address as it was. */
  readonly url: string
  /** Epoch seconds: its `webhook-timestamp`. */
  readonly timestamp: number
}

export interface LoggedAttempt extends DeliveryAttempt {
  /** When it was recorded; epoch milliseconds. */
  readonly at: number
}
