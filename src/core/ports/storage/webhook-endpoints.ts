import type { LoggedEventType, WebhookEventType } from '../../delivery/endpoint-health.ts'
import type { Page, PageRequest } from './page.ts'
import type { FollowingWrite } from './records.ts'

/** Address to which events of an organization, or of all, are posted. */
export interface WebhookEndpoint {
  /** `wh_<value>`; also the lane of its jobs. */
  readonly id: string
  /** Or `ALL_ORGANIZATIONS`: it gets the events of every organization. */
  readonly organizationId: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** The status codes that count as success. */
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  /** Null: not disabled. */
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  /**
   * First failed attempt since the last success, in epoch milliseconds. Null: the last attempt succeeded, or there was
   * none.
   */
  readonly failingSince: number | null
  /** Encrypted `whsec_…` secrets that are valid, newest first. Opaque to the storage. */
  readonly secrets: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * Registered addresses with their deliveries. `also` is written in the commit of a change, and not without it.
 */
export interface WebhookEndpointRepository {
  /**
   * Registers an endpoint if the organization has fewer than `most`, also in a race. Null: the limit is reached.
   *
   * @throws NotifierError `not_found` if the organization does not exist
   */
  create(
    endpoint: NewWebhookEndpoint,
    most: number,
    also?: readonly FollowingWrite[],
  ): Promise<WebhookEndpoint | null>
  /** An endpoint of any organization. Null: unknown. */
  get(id: string): Promise<WebhookEndpoint | null>
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<WebhookEndpoint>>
  /**
   * Changes the given fields. `disabled` holds the endpoint's jobs as a settlement's `disable` does, with the reason
   * `manual` unless it was already disabled. `active` clears the reason and leaves held deliveries held. `active` and a
   * new address reset the endpoint's health. Null: unknown.
   */
  update(
    id: string,
    change: EndpointChange,
    also?: readonly FollowingWrite[],
  ): Promise<WebhookEndpoint | null>
  /**
   * Puts a new secret first. Older ones end after `overlapMs` of the storage's clock, or sooner if they were to end
   * before; 0 ends them at once. Keeps the `most` newest. Two concurrent rotations keep both secrets. Null: unknown.
   */
  rotateSecret(
    id: string,
    rotation: SecretRotation,
    also?: readonly FollowingWrite[],
  ): Promise<WebhookEndpoint | null>
  /** The delivery log of an endpoint, newest first, with the attempts in order. */
  deliveries(filter: DeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /**
   * The deliveries of these events to the endpoints of an owner, newest first, at most `most`; `eventIds` are at most
   * 1,000.
   *
   * @param owner an organization or `ALL_ORGANIZATIONS`
   */
  deliveriesOf(eventIds: readonly string[], owner: string, most: number): Promise<readonly EndpointDelivery[]>
  /**
   * Records a test event that was posted, as a delivery without a job, `delivered` or `failed` as its attempt says, and
   * removes all but the `most` newest of the endpoint. The endpoint's health stays as it is. False: there is no such
   * endpoint, and nothing is stored.
   */
  recordTest(id: string, test: PostedTest, most: number): Promise<boolean>
  /**
   * Makes deliveries due at once, each with all attempts of the schedule. Concurrent calls make none due twice.
   * `disabled`: the endpoint is disabled, and nothing changed. `unknown`: no such endpoint.
   *
   * @returns number of deliveries; fewer than `most`: none are left
   */
  redeliver(id: string, which: Redelivery): Promise<number | 'disabled' | 'unknown'>
  /**
   * Removes at most `most` deliveries with their jobs and attempts, to keep the step short, and the endpoint itself
   * once none are left, with `also` in that commit. `more`: the endpoint and some deliveries remain.
   */
  delete(id: string, most: number, also?: readonly FollowingWrite[]): Promise<'deleted' | 'more' | 'unknown'>
}

export type Redelivery =
  /** Held and failed deliveries of events since then, without test events, oldest first; at most `most`, to keep the step short. */
  | { readonly since: number; readonly most: number; readonly eventId?: undefined }
  /**
   * The delivery of this event in any state. One that waits for its next attempt keeps its count of attempts; a running
   * one stays unchanged. 0: there is none.
   */
  | { readonly eventId: string }

/** A new endpoint. It is active. */
export type NewWebhookEndpoint = Omit<
  WebhookEndpoint,
  'createdAt' | 'status' | 'disabledReason' | 'failingSince'
>

/** Absent: unchanged. */
export type EndpointChange = {
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

/** The delivery of one event to one endpoint. */
export interface WebhookDelivery {
  /** The `webhook-id`. */
  readonly eventId: string
  readonly eventType: LoggedEventType
  readonly payload: string
  /** `held`: the endpoint is disabled; the delivery waits for a redelivery. */
  readonly state: 'pending' | 'delivered' | 'failed' | 'held'
  /** Publication of the event, in epoch milliseconds. */
  readonly createdAt: number
  /** The time that the next attempt waits for, in epoch milliseconds. Null: none waits, or it is due or under way. */
  readonly nextAttemptAt: number | null
  readonly attempts: readonly LoggedAttempt[]
}

/** A test event with its only attempt. */
export interface PostedTest {
  /** `evt_<id of the endpoint>_test_…` */
  readonly eventId: string
  /** The organization of the event, also for an endpoint of operators. */
  readonly organizationId: string
  readonly payload: string
  readonly attempt: DeliveryAttempt
}

export interface EndpointDelivery extends WebhookDelivery {
  readonly endpointId: string
}

/** One request to a webhook endpoint. */
export interface DeliveryAttempt {
  readonly attempt: number
  /** Null: no answer. */
  readonly status: number | null
  /** The start of the answer's body, or the reason why there is no answer. */
  readonly response: string
  readonly durationMs: number
  readonly succeeded: boolean
  /** Absent: nothing was sent, or the process ended before it could record this. */
  readonly request?: SentRequest | undefined
}

/** The parts of a request that do not follow from its event. */
export interface SentRequest {
  /** The endpoint's address at that time. */
  readonly url: string
  /** The `webhook-timestamp` in epoch seconds. */
  readonly timestamp: number
}

export interface LoggedAttempt extends DeliveryAttempt {
  /** Time of recording in epoch milliseconds. */
  readonly at: number
}
