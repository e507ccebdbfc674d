import * as z from 'zod'
import { WEBHOOK_EVENT_TYPES } from '../../domain/endpoint-health.ts'
import type { List } from '../../services/list.ts'
import type {
  CreatedWebhookEndpoint,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from '../../services/webhooks/records.ts'
import { listOf, timestamp } from './common.ts'

const fields = {
  id: z.string().regex(/^wh_[\w-]+$/),
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
  successStatus: z.enum(['200', '2xx']).describe('What counts as success.'),
  status: z.enum(['active', 'disabled']),
  disabledReason: z
    .enum(['gone', 'failing', 'manual'])
    .nullable()
    .describe('`gone`: it answered 410. `failing`: for five days. `manual`: by a change.'),
  failingSince: timestamp.nullable().describe('Since when every attempt has failed.'),
  createdAt: timestamp,
}

/** A webhook endpoint without its secret. */
export const webhookEndpointRecord: z.ZodType<WebhookEndpointRecord> = z.object(fields)

export const createdWebhookEndpoint: z.ZodType<CreatedWebhookEndpoint> = z.object({
  ...fields,
  secret: z.string().describe('Verifies signatures (Standard Webhooks). Shown once.'),
})

export const webhookEndpointList: z.ZodType<List<WebhookEndpointRecord>> = listOf(webhookEndpointRecord)

const postFields = {
  succeeded: z.boolean(),
  status: z.int().nullable().describe('The HTTP status; null: no answer.'),
  response: z.string().describe("The beginning of the answer's body, or why there was none."),
  durationMs: z.number(),
  request: z
    .object({
      url: z.string().describe("The endpoint's address as it was."),
      headers: z
        .record(z.string(), z.string())
        .describe(
          'By lower-case name, without `webhook-signature`, trace context and what HTTP adds to every request.',
        ),
    })
    .nullable()
    .describe('What was sent; null: nothing, or the process ended before it could say.'),
}

/** Result of one post to an endpoint. */
export const webhookPostRecord: z.ZodType<WebhookPostRecord> = z.object(postFields)

export const webhookDeliveryStatus: z.ZodType<WebhookDeliveryRecord['status']> = z
  .enum(['pending', 'delivered', 'failed', 'held'])
  .describe('`held`: the endpoint was disabled; it waits for a redelivery.')

export const webhookDeliveryRecord: z.ZodType<WebhookDeliveryRecord> = z.object({
  eventId: z.string().describe('The `webhook-id` that the receiver sees.'),
  event: z.enum(WEBHOOK_EVENT_TYPES),
  status: webhookDeliveryStatus,
  payload: z.string().describe('The exact body.'),
  createdAt: timestamp,
  attempts: z.array(z.object({ attempt: z.int(), timestamp, ...postFields })),
})

export const webhookDeliveryList: z.ZodType<List<WebhookDeliveryRecord>> = listOf(webhookDeliveryRecord)

/** Response to a redelivery. */
export const redelivered: z.ZodType<{ redelivered: number }> = z.object({ redelivered: z.int() })
