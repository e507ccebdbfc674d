import * as z from 'zod'
import { failureGroups } from '../../core/notification/schemas.ts'
import type { HealthReport } from '../../core/observe/health.ts'
import type { MetricsSnapshot } from '../../core/observe/model.ts'
import { named } from '../../core/rest/named.ts'
import { type Open, timestamp } from '../../core/rest/schemas.ts'
import { PERIODS, type Statistics, type StatisticsQuery } from './model.ts'

/** Query of `GET /v1/statistics`. */
export const statisticsQuery: z.ZodType<StatisticsQuery> = z.object({
  period: z
    .enum(PERIODS)
    .optional()
    .describe(
      'An hour in steps of 5 minutes, a day in hours, or a week in steps of 6 hours. Default: `24h`.',
    ),
})

const span = z.object({
  from: timestamp,
  until: timestamp,
  accepted: z.int(),
  sent: z.int(),
  delivered: z.int(),
  failed: z.int(),
  bounced: z.int().describe('Those of `failed` that a provider had accepted before.'),
  exact: z.boolean().describe('False: there may be more; only a bounded part was counted.'),
})

const age = z
  .number()
  .nullable()
  .describe('How long the one that waits longest has been due, in milliseconds. Null: none is due.')

/** Counts for an overview of one organization. */
export const statistics: z.ZodType<Open<Statistics>> = named(
  'Statistics',
  z.object({
    at: timestamp,
    period: z.enum(PERIODS),
    spans: z.array(span).describe('The steps of the period by the clock (UTC), oldest first.'),
    successRate: z
      .number()
      .nullable()
      .describe(
        'Of what ended the share that a provider accepted and did not report as undelivered, 0 to 1. Null: nothing ended.',
      ),
    failures: failureGroups.describe('Why notifications failed that were accepted in the period.'),
    providers: z
      .array(
        z.object({
          name: z.string(),
          channel: z.string(),
          sent: z.int(),
          failed: z.int(),
          exact: z.boolean().describe('False: older attempts of the period were not examined.'),
          failingSince: timestamp.nullable().describe('Null: the last attempt succeeded.'),
          pausedUntil: timestamp
            .nullable()
            .describe('Until when it is paused, as the answering process sees it. Null: it is not.'),
          lastError: z
            .object({
              code: z.string().nullable(),
              providerCode: z.string().nullable().describe("The provider's own code."),
              message: z.string().nullable(),
              at: timestamp,
            })
            .nullable(),
        }),
      )
      .describe('By the newest 2,000 entries of the delivery log, the least successful first.'),
    waiting: z.object({
      due: z.int(),
      scheduled: z.int().describe('Accepted for a later time.'),
      retrying: z.int().describe('An attempt failed, and the next has not come.'),
      running: z.int().describe('An attempt is under way.'),
      oldestDueMs: age,
    }),
    most: z.int().describe('Counts of what waits end here: such a number means at least so many.'),
  }),
)

const provider = z.object({
  channel: z.string(),
  name: z.string(),
  organizationId: z
    .string()
    .nullable()
    .describe('The organization whose instance it is. Null: it serves all.'),
  state: z.enum(['ready', 'paused', 'probing']),
  pausedUntil: timestamp.nullable(),
  code: z.string().nullable().describe('Why it is paused or tried again.'),
  running: z.int().describe('Messages of the answering process under way.'),
})

const lane = z.object({
  lane: z.string().nullable().describe('The channel. Null: webhook events.'),
  due: z.int(),
  scheduled: z.int(),
  leased: z.int(),
  oldestDueMs: age,
})

/** What operators see of the service. */
export type Operations = HealthReport & {
  readonly at: string
  readonly oldestDueMs: number | null
  readonly backlog: MetricsSnapshot['backlog']
}

export const operations: z.ZodType<Open<Operations>> = named(
  'Operations',
  z.object({
    at: timestamp,
    status: z.enum(['ok', 'degraded', 'unavailable']),
    reason: z.string().nullable().describe('Why the status is not `ok`. Null: it is.'),
    storage: z.object({ name: z.string(), durable: z.boolean(), answers: z.boolean() }),
    queue: z
      .object({ name: z.string(), takes: z.boolean() })
      .nullable()
      .describe('Null: there is no queue engine.'),
    providers: z.array(provider).describe('Those of the answering process.'),
    waiting: z
      .array(
        z.object({
          lane: z.string(),
          reason: z.enum(['channel_not_configured', 'unavailable', 'not_registered']),
        }),
      )
      .describe('Due notifications without an available provider.'),
    oldestDueMs: age,
    backlog: z
      .object({
        most: z.int().describe('Counts end here: such a number means at least so many.'),
        held: z.int().describe('Webhook deliveries that wait for a redelivery.'),
        lanes: z.array(lane),
      })
      .nullable()
      .describe('What waits, by channel. Null: the storage did not answer.'),
  }),
)
