import * as z from 'zod'
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../core/delivery/endpoint-health.ts'
import { instant, overlap } from '../../core/input/fields.ts'
import { namedInput } from '../../core/rest/named.ts'

/** Input for a webhook endpoint. */
export interface WebhookEndpointInput {
  /** Public https address without credentials. */
  readonly url: string
  /** Default: `notification.sent`, `.delivered`, `.opened`, `.clicked` and `.failed`. */
  readonly events?: readonly WebhookEventType[] | undefined
  /** Status codes that count as success. Default `200`. */
  readonly successStatus?: '200' | '2xx' | undefined
}

export const MAX_URL = 2_048

/** Characters that a URL parser removes or replaces: the checked address would differ from the shown one. */
const NO_URL = /[\s\p{Cc}\p{Cs}]/u

const url = z
  .string()
  .min(1)
  .max(MAX_URL)
  .refine((text) => !NO_URL.test(text), 'must not contain spaces or control characters')
  .describe('Public https address without credentials.')
const events = z.array(z.enum(WEBHOOK_EVENT_TYPES)).min(1).max(WEBHOOK_EVENT_TYPES.length)
const successStatus = z.enum(['200', '2xx'])

/** The schema of {@link WebhookEndpointInput}; the guard checks the address. */
export const webhookEndpointInput: z.ZodType<WebhookEndpointInput, WebhookEndpointInput> = namedInput(
  'WebhookEndpointRequest',
  z.object({
    url,
    events: events
      .optional()
      .describe('Default: `notification.sent`, `.delivered`, `.opened`, `.clicked` and `.failed`.'),
    successStatus: successStatus.optional().describe('Status codes that count as success. Default `200`.'),
  }),
)

/** Changes of a webhook endpoint; absent fields stay. */
export interface WebhookEndpointChange extends Omit<WebhookEndpointInput, 'url'> {
  readonly url?: string | undefined
  /** `disabled`: events are held instead of sent. `active`: new events are sent; held ones only by a redelivery. */
  readonly status?: 'active' | 'disabled' | undefined
}

export const webhookEndpointChange: z.ZodType<WebhookEndpointChange, WebhookEndpointChange> = namedInput(
  'WebhookEndpointChange',
  z.object({
    url: url.optional(),
    events: events.optional(),
    successStatus: successStatus.optional().describe('Status codes that count as success.'),
    status: z
      .enum(['active', 'disabled'])
      .optional()
      .describe('A disabled endpoint gets no events; its events are held until a redelivery.'),
  }),
)

/** How long older secrets also sign. */
export const secretRotation: z.ZodObject<{ overlapMs: z.ZodDefault<z.ZodInt> }> = namedInput(
  'SecretRotationRequest',
  z.object({
    overlapMs: overlap('How long older secrets also sign, in milliseconds. Default: a day.'),
  }),
)

/** Selects events published at or after a time. */
export const redeliverInput: z.ZodType<{ since: number }, { since: string | Date }> = namedInput(
  'RedeliverRequest',
  z.object({
    since: instant,
  }),
)
