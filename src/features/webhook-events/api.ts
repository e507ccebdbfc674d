import type { List, ListQuery } from '../../core/records/list.ts'
import type { WebhookEndpointChange, WebhookEndpointInput } from './input.ts'
import type {
  CreatedWebhookEndpoint,
  NotificationDeliveryRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './model.ts'

/** Endpoints that receive events of one organization. */
export interface Webhooks {
  /**
   * Creates an endpoint. The result holds the signing secret, which is never shown again. At most 50 per
   * organization.
   *
   * @throws NotifierError `invalid_parameter`, `blocked_address`, `endpoint_limit_reached`
   */
  create(endpoint: WebhookEndpointInput): Promise<CreatedWebhookEndpoint>
  /** @throws NotifierError `not_found`, `organization_mismatch` */
  get(id: string): Promise<WebhookEndpointRecord>
  list(query?: ListQuery): Promise<List<WebhookEndpointRecord>>
  /**
   * Changes the given fields. Enabling an endpoint redelivers nothing.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `blocked_address`
   */
  update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpointRecord>
  /**
   * Makes a new signing secret. The result holds it; it is never shown again. Older secrets also sign for `overlapMs`
   * (default: a day; 0 ends them at once); at most five sign.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`
   */
  rotateSecret(
    id: string,
    options?: { readonly overlapMs?: number | undefined },
  ): Promise<CreatedWebhookEndpoint>
  /**
   * Posts an example event of the type `webhook.test` at once, also to a disabled endpoint, and returns the result.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   */
  test(id: string): Promise<WebhookPostRecord>
  /** The delivery log of an endpoint, newest first. @throws NotifierError `not_found`, `organization_mismatch` */
  deliveries(id: string, query?: WebhookDeliveryQuery): Promise<List<WebhookDeliveryRecord>>
  /**
   * Makes held and failed deliveries of events since a time due again, with the same `webhook-id`s.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `endpoint_disabled`
   */
  redeliver(id: string, which: { readonly since: string | Date }): Promise<{ readonly redelivered: number }>
  /**
   * Makes one delivery due at once in any state, with the same `webhook-id`. Returns the delivery afterwards. One
   * under way is left alone.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `endpoint_disabled`
   */
  redeliverOne(id: string, eventId: string): Promise<WebhookDeliveryRecord>
  /** Deletes an endpoint with its pending deliveries. @throws NotifierError `not_found`, `organization_mismatch` */
  delete(id: string): Promise<void>
}

/** The webhook events about notifications. */
export interface EventDeliveries {
  /**
   * Lists the webhook events about a notification at every endpoint, newest first: at most 200, of the newest 1,000
   * entries of its timeline.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`
   */
  webhookDeliveries(id: string): Promise<{ readonly items: readonly NotificationDeliveryRecord[] }>
}
