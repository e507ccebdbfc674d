import * as z from 'zod'
import { EVENT_TYPES, type EventType } from '../facts.ts'

/** What registers a webhook endpoint. */
export interface NewWebhookEndpoint {
  readonly url: string
  readonly events?: readonly EventType[] | undefined
  readonly successStatus?: '200' | '2xx' | undefined
}

/** The schema of {@link NewWebhookEndpoint}; the address itself is judged by the outgoing guard. */
export const webhookEndpointInput: z.ZodType<NewWebhookEndpoint, NewWebhookEndpoint> = z.object({
  url: z.string().min(1).max(2048).describe('Public https address without credentials.'),
  events: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .max(EVENT_TYPES.length)
    .optional()
    .describe('Default: the five events of the specification.'),
  successStatus: z.enum(['200', '2xx']).optional().describe('What counts as success. Default `200`.'),
})
