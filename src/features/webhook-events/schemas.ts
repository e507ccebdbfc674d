import * as z from 'zod'
import { TEST_EVENT_TYPE, WEBHOOK_EVENT_TYPES } from '../../core/delivery/endpoint-health.ts'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, page } from '../../core/rest/query-schemas.ts'
import { listOf, timestamp } from '../../core/rest/schemas.ts'
import type {
  CreatedWebhookEndpoint,
  NotificationDeliveryRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './model.ts'

const loggedEventType = z.enum([...WEBHOOK_EVENT_TYPES, TEST_EVENT_TYPE])

const fields = {
  id: z.string().regex(/^wh_[\w.-]+$/),
  url: z.string().describe('Of a listener: `listener:` and its name.'),
  events: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
  successStatus: z.enum(['200', '2xx']).describe('Statuses that count as success.'),
  status: z.enum(['active', 'disabled']),
  disabledReason: z
    .enum(['gone', 'failing', 'manual'])
    .nullable()
    .describe(
      '`gone`: it answered 410. `failing`: it failed for five days. `manual`: disabled by a request.',
    ),
  failingSince: timestamp
    .nullable()
    .describe('Since then every attempt has failed; null: the last one succeeded.'),
  lastAttempt: z
    .object({
      event: loggedEventType,
      succeeded: z.boolean(),
      status: z.int().nullable().describe('The HTTP status; null: no answer.'),
      timestamp,
    })
    .nullable()
    .describe('Of its newest deliveries; null: there was none.'),
  createdAt: timestamp,
}

/** A webhook endpoint without its secret. */
export const webhookEndpointRecord: z.ZodType<WebhookEndpointRecord> = named(
  'WebhookEndpoint',
  z.object(fields),
)

export const createdWebhookEndpoint: z.ZodType<CreatedWebhookEndpoint> = named(
  'CreatedWebhookEndpoint',
  z.object({
    ...fields,
    secret: z.string().describe('Verifies signatures (Standard Webhooks). Shown once.'),
  }),
)

export const webhookEndpointList: z.ZodType<List<WebhookEndpointRecord>> = named(
  'WebhookEndpointList',
  listOf(webhookEndpointRecord),
)

const postFields = {
  succeeded: z.boolean(),
  status: z.int().nullable().describe('The HTTP status; null: no answer.'),
  response: z.string().describe("Start of the answer's body, or the cause of a missing answer."),
  durationMs: z.number(),
  request: z
    .object({
      url: z.string().describe("The endpoint's address at that time."),
      headers: z
        .record(z.string(), z.string())
        .describe(
          'By lower-case name, without `webhook-signature`, trace context and the headers of HTTP itself.',
        ),
    })
    .nullable()
    .describe('The request that was sent; null: none, or the process ended before it was recorded.'),
}

/** Result of one post to an endpoint. */
export const webhookPostRecord: z.ZodType<WebhookPostRecord> = named('WebhookPost', z.object(postFields))

const webhookDeliveryStatus = z
  .enum(['pending', 'delivered', 'failed', 'held'])
  .describe('`held`: the endpoint was disabled, and the delivery waits for a redelivery.')

const deliveryFields = {
  eventId: z.string().describe('Value of the header `webhook-id`.'),
  event: loggedEventType,
  status: webhookDeliveryStatus,
  payload: z.string().describe('The exact request body.'),
  createdAt: timestamp,
  nextAttemptAt: timestamp
    .nullable()
    .describe('The time that its next attempt waits for; null: none waits, or it is due or under way.'),
  attempts: z.array(z.object({ attempt: z.int(), timestamp, ...postFields })),
}

export const webhookDeliveryRecord: z.ZodType<WebhookDeliveryRecord> = named(
  'WebhookDelivery',
  z.object(deliveryFields),
)

/** Deliveries of events about one notification. */
export const notificationDeliveries: z.ZodType<{ items: readonly NotificationDeliveryRecord[] }> = named(
  'NotificationWebhookDeliveries',
  z.object({
    items: z
      .array(z.object({ ...deliveryFields, endpointId: z.string() }))
      .describe('Newest first, at most 200.'),
  }),
)

export const webhookDeliveryList: z.ZodType<List<WebhookDeliveryRecord>> = named(
  'WebhookDeliveryList',
  listOf(webhookDeliveryRecord),
)

/** Response to a redelivery. */
export const redelivered: z.ZodType<{ redelivered: number }> = named(
  'Redelivered',
  z.object({ redelivered: z.int() }),
)

/** Filters of `GET /v1/webhooks/{id}/deliveries`. */
export const webhookDeliveryQuery: z.ZodType<Filters<WebhookDeliveryQuery>> = z.object({
  ...page,
  status: webhookDeliveryStatus.optional(),
})
