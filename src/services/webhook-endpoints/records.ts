import type { WebhookEventType } from '../../domain/endpoint-health.ts'
import type { ListQuery } from '../list.ts'

export interface WebhookEndpointRecord {
  readonly id: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  /** `gone`: it answered 410. `failing`: for five days. `manual`: by an update. Null: it is not disabled. */
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  /** ISO 8601; since when every attempt has failed. Null: the last one succeeded, or there was none. */
  readonly failingSince: string | null
  readonly createdAt: string
}

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  /** `whsec_…`, for the receiver's Standard Webhooks library. */
  readonly secret: string
}

/** The end of one post to an endpoint. */
export interface WebhookPostRecord {
  readonly succeeded: boolean
  /** Null: no answer. */
  readonly status: number | null
  /** The beginning of the answer's body, or why there was none. */
  readonly response: string
  readonly durationMs: number
  /**
   * What was sent; null: nothing, because the event could not be signed, the address was refused or no connection was
   * made. Null, too, where nobody knows: the process ended before it could say, or an earlier version recorded it.
   */
  readonly request: WebhookRequestRecord | null
}

/** A request as it went to an endpoint, but for its body. */
export interface WebhookRequestRecord {
  /** The endpoint's address as it was. */
  readonly url: string
  /**
   * By lower-case name. Left out are `webhook-signature`, which is a credential while its timestamp is fresh: who holds
   * it can pass the request off as new; trace context; and what HTTP adds to every request (`host`, `content-length`).
   */
  readonly headers: Readonly<Record<string, string>>
}

export interface WebhookAttemptRecord extends WebhookPostRecord {
  /** From 1; a redelivery begins anew. */
  readonly attempt: number
  /** When it was recorded: ISO 8601 UTC. */
  readonly timestamp: string
}

/** One event on its way to one endpoint, or arrived. */
export interface WebhookDeliveryRecord {
  /** The `webhook-id` that the receiver sees. */
  readonly eventId: string
  readonly event: WebhookEventType
  /** `held`: the endpoint was disabled; it waits for a redelivery. */
  readonly status: 'pending' | 'delivered' | 'failed' | 'held'
  /** The exact body. */
  readonly payload: string
  readonly createdAt: string
  /** In order. */
  readonly attempts: readonly WebhookAttemptRecord[]
}

export interface WebhookDeliveryQuery extends ListQuery {
  readonly status?: WebhookDeliveryRecord['status'] | undefined
}
