import * as z from 'zod'
import type { BatchResult, SentNotification, ValidatedSend } from '../accept/model.ts'
import type { List } from '../records/list.ts'
import { named } from '../rest/named.ts'
import {
  channelName,
  failure,
  labelFields,
  listOf,
  notificationStatus,
  type Open,
  outcomeTextFields,
  timestamp,
} from '../rest/schemas.ts'
import { renderedFields } from '../text/schemas.ts'
import type { FailureGroups } from './failure-groups.ts'
import type { NotificationRecord, NotificationSummary } from './model.ts'
import { partsFields } from './part-schemas.ts'
import { SUPPRESSION_REASONS } from './suppression.ts'

const groupFields = {
  groupId: z
    .string()
    .optional()
    .describe(
      'Shared by what goes to several addresses of one recipient, on one channel or several. Absent: one address.',
    ),
  ids: z.array(z.string()).optional().describe('All ids of the group.'),
}

const sentStatus = notificationStatus.describe(
  '`queued` or `scheduled`; in a replayed response the present status.',
)

/** Response to a send. */
export const sentNotification: z.ZodType<Omit<SentNotification, 'replayed'>> = named(
  'SentNotification',
  z.object({
    id: z.string().regex(/^notif_\d+$/),
    status: sentStatus,
    channel: channelName,
    to: z.string(),
    ...groupFields,
    createdAt: timestamp,
  }),
)

/** Response to a send with `X-Test-Mode: true`. */
export const validatedSend: z.ZodType<ValidatedSend> = named(
  'ValidatedSend',
  z.object({
    channel: channelName,
    to: z.string(),
    rendered: z.object({ ...renderedFields, ...partsFields }),
    delayed: z
      .object({
        until: timestamp.describe('It is judged again then.'),
        message: z.string().describe('For people.'),
        expires: z.boolean().describe('Its `expiresAt` comes no later, and it ends as `expired`.'),
      })
      .nullable()
      .describe('Why it would wait now, such as for the end of quiet hours. Null: it would not.'),
  }),
)

export const batchResult: z.ZodType<Open<Omit<BatchResult, 'replayed'>>> = named(
  'BatchResult',
  z.object({
    accepted: z.int(),
    rejected: z.int(),
    items: z.array(
      z.union([
        z.object({ index: z.int(), id: z.string(), status: sentStatus, ...groupFields }),
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
  }),
)

const summaryFields = {
  id: z.string(),
  organizationId: z.string(),
  status: notificationStatus,
  channel: channelName,
  to: z.string(),
  subject: z.string().nullable().describe('Null if a template provides it, or if the message is sensitive.'),
  template: z.string().nullable(),
  priority: z.enum(['normal', 'high']),
  sendAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  provider: z.string().nullable(),
  error: failure
    .nullable()
    .describe(
      'Why it failed or was skipped, or the cause of the last failed attempt while another one is due.',
    ),
  createdAt: timestamp,
  resendOf: z.string().nullable().describe('Id of the original of a resend.'),
  ...labelFields,
}

/** A notification with all details. */
export const notificationRecord: z.ZodType<Open<NotificationRecord>> = named(
  'Notification',
  z.object({
    ...summaryFields,
    sensitive: z
      .boolean()
      .describe('True: the content is never shown and is removed once delivery has ended.'),
    rendered: z
      .object({ ...renderedFields, ...partsFields })
      .optional()
      .describe('With `rendered=true`: the rendered content without tracking.'),
    waiting: z
      .object({
        reason: z
          .enum([
            'scheduled',
            'delayed',
            'retry',
            'in_queue',
            'attempt_running',
            'provider_paused',
            'channel_not_configured',
            'providers_unavailable',
          ])
          .describe(
            '`delayed`: it may not go yet, as `message` says. `in_queue`: due, and others are before it. `provider_paused`: all of its providers rest.',
          ),
        until: timestamp.nullable().describe('When that changes, as far as is known.'),
        code: z.string().nullable().describe('Why the last attempt failed, or why the provider rests.'),
        message: z.string().nullable().describe('Why it is delayed, for people.'),
      })
      .nullable()
      .describe('Why it is not sent yet. Null: its delivery has ended.'),
    actions: z
      .object({
        cancel: z.boolean().describe('False while an attempt is running, and once the delivery has ended.'),
        reschedule: z.boolean().describe('False: it is not scheduled, or its first attempt has begun.'),
        resend: z
          .boolean()
          .describe(
            'False: its delivery has not ended, its content is removed, or its recipient is suppressed.',
          ),
        retry: z
          .boolean()
          .describe('False: it has not failed, or the same message to the same address would fail again.'),
      })
      .describe('What can be done with it now. What is false is refused, or could not help.'),
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
        suppressed: z
          .enum(SUPPRESSION_REASONS)
          .nullable()
          .describe('Why the address was suppressed with it. Null: it was not.'),
        durationMs: z.number().nullable(),
        segments: z.int().nullable().describe('Segments of a text message that was handed over.'),
        ambiguous: z.boolean(),
        machine: z.boolean().describe('True: opened or clicked by a machine; the status is unchanged.'),
      }),
    ),
  }),
)

/** A notification in a list. */
const notificationSummary: z.ZodType<Open<NotificationSummary>> = named(
  'NotificationSummary',
  z.object(summaryFields),
)

export const notificationList: z.ZodType<List<Open<NotificationSummary>>> = named(
  'NotificationList',
  listOf(notificationSummary),
)

const failureGroup = z.object({
  code: z.string(),
  provider: z.string().nullable().describe('Null: no provider was asked.'),
  channel: channelName,
  count: z.int(),
  newestAt: timestamp.describe('When the newest of them was accepted.'),
})

/** Failed notifications by cause. */
export const failureGroups: z.ZodType<Open<FailureGroups>> = named(
  'FailureGroups',
  z.object({
    groups: z.array(failureGroup).describe('Those with most first, at most 100.'),
    total: z.int().describe('How many failures there are, also of causes beyond the 100.'),
    exact: z
      .boolean()
      .describe('False: only the newest 10,000 failures were looked at; there are at least so many of each.'),
  }),
)
