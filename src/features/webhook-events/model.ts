import type { LoggedEventType, WebhookEventType } from '../../core/delivery/endpoint-health.ts'
import type { WebhookRequestRecord } from '../../core/delivery/webhook-request.ts'
import type { ListQuery } from '../../core/records/list.ts'

export interface WebhookEndpointRecord {
  readonly id: string
  /** Of a listener: `listener:` and its name. */
  readonly url: string
  readonly events: readonly WebhookEventType[]
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  /**
   * `gone`: the endpoint answered 410. `failing`: all attempts failed for five days. `manual`: by an update. Null: not
   * disabled.
   */
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  /** Start of the current series of failed attempts, ISO 8601. Null: the last attempt succeeded, or there was none. */
  readonly failingSince: string | null
  /** Of its newest deliveries. Null: there was none. */
  readonly lastAttempt: LastAttemptRecord | null
  readonly createdAt: string
}

/** The last attempt to deliver an event to an endpoint. */
export interface LastAttemptRecord {
  readonly event: LoggedEventType
  readonly succeeded: boolean
  /** Null: no answer. */
  readonly status: number | null
  /** ISO 8601 UTC. */
  readonly timestamp: string
}

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  /** `whsec_…`, for the receiver's Standard Webhooks library. */
  readonly secret: string
}

/** Result of one post to an endpoint. */
export interface WebhookPostRecord {
  readonly succeeded: boolean
  /** Null: no answer. */
  readonly status: number | null
  /** The start of the answer's body, or the reason why there is no answer. */
  readonly response: string
  readonly durationMs: number
  /**
   * The request. Null: none was made, because the event could not be signed, the address was refused or no connection
   * was made; or it is unknown, because the process ended.
   */
  readonly request: WebhookRequestRecord | null
}

export interface WebhookAttemptRecord extends WebhookPostRecord {
  /** From 1; a redelivery starts again at 1. */
  readonly attempt: number
  /** Time of recording: ISO 8601 UTC. */
  readonly timestamp: string
}

/** The delivery of one event to one endpoint. */
export interface WebhookDeliveryRecord {
  /** The `webhook-id`. */
  readonly eventId: string
  /** `webhook.test`: a test event. */
  readonly event: LoggedEventType
  /** `held`: the endpoint is disabled; the delivery waits for a redelivery. */
  readonly status: 'pending' | 'delivered' | 'failed' | 'held'
  /** The exact body. */
  readonly payload: string
  readonly createdAt: string
  /** The time that its next attempt waits for: ISO 8601 UTC. Null: none waits, or it is due or under way. */
  readonly nextAttemptAt: string | null
  readonly attempts: readonly WebhookAttemptRecord[]
}

/** A delivery of an event about one notification. */
export interface NotificationDeliveryRecord extends WebhookDeliveryRecord {
  readonly endpointId: string
}

export interface WebhookDeliveryQuery extends ListQuery {
  readonly status?: WebhookDeliveryRecord['status'] | undefined
}
