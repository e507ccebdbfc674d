import type { WebhookEventType } from '../../core/delivery/endpoint-health.ts'
import type { EventHandler } from '../../core/delivery/listeners.ts'
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

/** Endpoints that receive events of one organization; those of operators receive events of all. */
export interface Webhooks {
  /**
   * Creates an endpoint. The result holds the signing secret, which is never shown again. At most 50 per
   * organization, and 50 of operators.
   *
   * @throws NotifierError `invalid_parameter`, `blocked_address`, `endpoint_limit_reached`
   *
   * @example
   * const { id, secret } = await notifier.webhooks.create({
   *   url: 'https://acme.example/events',
   *   events: ['notification.delivered', 'notification.failed'],
   * })
   */
  create(endpoint: WebhookEndpointInput): Promise<CreatedWebhookEndpoint>
  /**
   * An endpoint without its secret.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * const { status, disabledReason } = await notifier.webhooks.get('wh_1234')
   */
  get(id: string): Promise<WebhookEndpointRecord>
  /**
   * Newest first, without their secrets.
   *
   * @example
   * const { items } = await notifier.webhooks.list()
   */
  list(query?: ListQuery): Promise<List<WebhookEndpointRecord>>
  /**
   * Changes the given fields. Enabling an endpoint redelivers nothing.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `blocked_address`
   *
   * @example
   * await notifier.webhooks.update('wh_1234', { status: 'active' })
   */
  update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpointRecord>
  /**
   * Makes a new signing secret. The result holds it; it is never shown again. Older secrets also sign for `overlapMs`
   * (default: a day; 0 ends them at once); at most five sign.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`
   *
   * @example
   * const { secret } = await notifier.webhooks.rotateSecret('wh_1234', { overlapMs: 60 * 60 * 1000 })
   */
  rotateSecret(
    id: string,
    options?: { readonly overlapMs?: number | undefined },
  ): Promise<CreatedWebhookEndpoint>
  /**
   * Posts an example event of the type `webhook.test` once, also to a disabled endpoint, and returns the result. The
   * delivery log keeps the 20 newest tests of an endpoint; they do not count for its health.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * const { status } = await notifier.webhooks.test('wh_1234')
   */
  test(id: string): Promise<WebhookPostRecord>
  /**
   * The delivery log of an endpoint, newest first.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * const { items } = await notifier.webhooks.deliveries('wh_1234', { limit: 20 })
   */
  deliveries(id: string, query?: WebhookDeliveryQuery): Promise<List<WebhookDeliveryRecord>>
  /**
   * Makes held and failed deliveries of events since a time due again, with the same `webhook-id`s.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `endpoint_disabled`
   *
   * @example
   * const { redelivered } = await notifier.webhooks.redeliver('wh_1234', { since: '2030-01-31T00:00:00Z' })
   */
  redeliver(id: string, which: { readonly since: string | Date }): Promise<{ readonly redelivered: number }>
  /**
   * Makes one delivery due at once in any state, with the same `webhook-id`. Returns the delivery afterwards. A running
   * one stays unchanged.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `endpoint_disabled`, `invalid_parameter` for a test event
   *
   * @example
   * await notifier.webhooks.redeliverOne('wh_1234', 'evt_1234_2')
   */
  redeliverOne(id: string, eventId: string): Promise<WebhookDeliveryRecord>
  /**
   * Deletes an endpoint with its pending deliveries.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * await notifier.webhooks.delete('wh_1234')
   */
  delete(id: string): Promise<void>
}

/** The webhook events about notifications. */
export interface EventDeliveries {
  /**
   * Lists the webhook events about a notification at every endpoint, newest first: at most 200, of the newest 1,000
   * entries of its timeline.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`
   *
   * @example
   * const { items } = await notifier.notifications.webhookDeliveries('notif_1234')
   */
  webhookDeliveries(id: string): Promise<{ readonly items: readonly NotificationDeliveryRecord[] }>
}

/** Listeners of the application for events of all organizations. */
export interface EventListening {
  /**
   * Subscribes a function of the application to events of all organizations, durably and by name. Each event is stored
   * with what it is about, and given to the function in a process that has registered the name, at least once, until the
   * function's promise fulfils. If it rejects or takes longer than `timeoutMs`, or the process dies, the event comes again by
   * the schedule of webhook endpoints, with the same `id`. Order is not promised.
   *
   * The subscription begins with its first registration, and lasts until {@link forget}; meanwhile events wait for a
   * process that registers the name, as long as their notification is kept. Before `start()` it resolves at once, and
   * `start()` stores the subscription. The newest registration decides the events.
   *
   * @throws NotifierError `invalid_parameter`, `endpoint_limit_reached`
   *
   * @example
   * await notifier.allOrganizations.listen('mirror', async ({ event, data }, { id }) => {
   *   await store({ id, event, organizationId: data.organizationId, about: data.id })
   * })
   * await notifier.start()
   */
  listen(name: string, handler: EventHandler, options?: ListenOptions): Promise<void>
  /**
   * Ends a subscription and drops the events that wait for it. A process that registers the name again begins anew.
   *
   * @throws NotifierError `not_found`, `invalid_parameter`
   *
   * @example
   * await notifier.allOrganizations.forget('mirror')
   */
  forget(name: string): Promise<void>
}

/** Options of a listener. */
export interface ListenOptions {
  /** Default: `notification.sent`, `.delivered`, `.opened`, `.clicked` and `.failed`. */
  readonly events?: readonly WebhookEventType[] | undefined
  /** Events that this process hands over at once, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined
  /** Time for the handler in milliseconds, at most an hour. Default 30 000. */
  readonly timeoutMs?: number | undefined
}
