import * as z from 'zod'
import { named } from '../rest/named.ts'
import { notificationStatus, type Open, timestamp } from '../rest/schemas.ts'
import type { ExplainedGate, Explanation } from './model.ts'

const explainedGate: z.ZodType<Open<ExplainedGate>> = z.object({
  gate: z
    .string()
    .describe(
      '`message`, `limits`, `regions`, `suppressions`, `preferences`, the name of a plug-in, `address`, `schedule`, `expiry`, `providers`, `attempt` or `delivery`.',
    ),
  result: z.enum(['passed', 'refused', 'skipped', 'waits', 'failed', 'unknown']),
  basis: z
    .enum(['recorded', 'now'])
    .describe('`recorded`: as it was decided. `now`: as it would be decided now.'),
  at: timestamp.nullable().describe('When it was decided. Null: it would be now.'),
  until: timestamp.nullable().describe('Of `waits`: until when, as far as is known.'),
  code: z.string().nullable(),
  decidedBy: z.string().nullable().describe('Of `skipped`: what decided, such as `recipient_category`.'),
  message: z.string().nullable().describe('For people.'),
})

/** Why a message was sent, was not, or still waits. */
export const explanation: z.ZodType<Open<Explanation>> = named(
  'Explanation',
  z.object({
    id: z.string().nullable().describe('Null: the message was not sent.'),
    status: notificationStatus.nullable().describe('Null: the message was not sent.'),
    channel: z.string().nullable(),
    to: z.string().nullable().describe('Null: the message has no address.'),
    decidedBy: z
      .string()
      .nullable()
      .describe('The gate that stops the message or lets it wait. Null: it went, or would go now.'),
    gates: z.array(explainedGate).describe('In the order in which they are asked.'),
  }),
)

/** One for each address of a message. */
export const explanations: z.ZodType<{ readonly explanations: readonly Open<Explanation>[] }> = named(
  'Explanations',
  z.object({ explanations: z.array(explanation) }),
)
