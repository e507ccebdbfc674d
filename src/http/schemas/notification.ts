import * as z from 'zod'
import { type SendFields, type SendSchema, sendInput } from '../../domain/input/send.ts'
import type { BatchResult, SentNotification, ValidatedSend } from '../../services/accept/records.ts'
import { channelName, failure, listOf, notificationStatus, outcomeTextFields, timestamp } from './common.ts'
import { partsFields } from './parts.ts'
import { renderedFields } from './template.ts'

/** Response to a send. */
export const sentNotification: z.ZodType<Omit<SentNotification, 'replayed'>> = z.object({
  id: z.string().regex(/^notif_\d+$/),
  status: z.enum(['queued', 'scheduled']),
  channel: channelName,
  to: z.string(),
  createdAt: timestamp,
})

/** Response to a send with `X-Test-Mode: true`. */
export const validatedSend: z.ZodType<ValidatedSend> = z.object({
  channel: channelName,
  to: z.string(),
  rendered: z.object({ ...renderedFields, ...partsFields }),
})

/** Input of a batch. */
export function batchInputOf(
  send: SendSchema,
): z.ZodType<{ notifications: unknown[] }, { notifications: SendFields[] }> {
  return z.object({ notifications: z.array(send).min(1).max(10_000) })
}

/** Identifies the batch schema in the table of routes. */
export const batchInput: ReturnType<typeof batchInputOf> = batchInputOf(sendInput)

export const batchResult: z.ZodType<Omit<BatchResult, 'replayed' | 'items'> & { items: unknown[] }> =
  z.object({
    accepted: z.int(),
    rejected: z.int(),
    items: z.array(
      z.union([
        z.object({ index: z.int(), id: z.string(), status: z.enum(['queued', 'scheduled']) }),
        z.object({
          index: z.int(),
          error: z.object({
            code: z.string(),
            message: z.string(),
            details: z.record(z.string(), z.unknown()).optional(),
          }),
        }),
      ]),
    ),
    createdAt: timestamp,
  })

const summaryFields = {
  id: z.string(),
  status: notificationStatus,
  channel: channelName,
  to: z.string(),
  subject: z
    .string()
    .nullable()
    .describe('Null where a template gives it, and where the message is sensitive.'),
  template: z.string().nullable(),
  priority: z.enum(['normal', 'high']),
  sendAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  provider: z.string().nullable(),
  error: failure
    .nullable()
    .describe('Why it failed; while it is queued for another attempt, why the last one did.'),
  createdAt: timestamp,
  resendOf: z.string().nullable().describe('The notification that this one repeats.'),
}

/** A notification with all details. */
export const notificationRecord: z.ZodType = z.object({
  ...summaryFields,
  sensitive: z.boolean().describe('The content is never shown, and is removed when delivery has ended.'),
  rendered: z
    .object({ ...renderedFields, ...partsFields })
    .optional()
    .describe('With `rendered=true`: what the recipient gets, without tracking.'),
  timeline: z.array(
    z.object({
      sequence: z.int(),
      event: z.string(),
      status: notificationStatus,
      timestamp,
      attempt: z.int().nullable(),
      provider: z.string().nullable(),
      providerMessageId: z.string().nullable(),
      error: failure.nullable(),
      ...outcomeTextFields,
      durationMs: z.number().nullable(),
      segments: z.int().nullable().describe('Of a text message that was handed over.'),
      ambiguous: z.boolean(),
      machine: z.boolean().describe('A machine opened or clicked; it changed no status.'),
    }),
  ),
})

/** A notification in a list. */
export const notificationSummary: z.ZodType = z.object(summaryFields)

export const notificationList: z.ZodType = listOf(notificationSummary)
