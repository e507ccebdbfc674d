import * as z from 'zod'
import { EVENT_TYPES } from '../../domain/facts.ts'
import type { CreatedWebhookEndpoint, List, WebhookEndpointRecord } from '../../services/records.ts'
import { listOf, timestamp } from './common.ts'

const fields = {
  id: z.string().regex(/^wh_[\w-]+$/),
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)),
  successStatus: z.enum(['200', '2xx']).describe('What counts as success.'),
  status: z.enum(['active', 'disabled']),
  disabledReason: z.string().nullable(),
  createdAt: timestamp,
}

/** A webhook endpoint without its secret. */
export const webhookEndpointRecord: z.ZodType<WebhookEndpointRecord> = z.object(fields)

export const createdWebhookEndpoint: z.ZodType<CreatedWebhookEndpoint> = z.object({
  ...fields,
  secret: z.string().describe('Verifies signatures (Standard Webhooks). Shown once.'),
})

export const webhookEndpointList: z.ZodType<List<WebhookEndpointRecord>> = listOf(webhookEndpointRecord)
