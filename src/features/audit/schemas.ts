import * as z from 'zod'
import { AUDIT_ACTIONS } from '../../core/audit/actions.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, line, page, recipient, time } from '../../core/rest/query-schemas.ts'
import { actor, channelName, listOf, type Open, timestamp } from '../../core/rest/schemas.ts'
import type { AuditEntry, AuditLogQuery } from './model.ts'

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** One entry of the audit log. */
const auditEntry: z.ZodType<Open<AuditEntry>> = named(
  'AuditEntry',
  z.object({
    id: z.string(),
    organizationId: z.string().nullable().describe('Null: it concerns operators.'),
    at: timestamp,
    actor,
    action: z.string().describe(`For example ${AUDIT_ACTIONS.slice(0, 3).join(', ')}.`),
    target: z.object({
      kind: z.string(),
      id: z.string().describe('People are named by a hash.'),
      name: z.string().nullable().describe('Its name at that time.'),
    }),
    origin: z
      .object({ ip: z.string().nullable(), userAgent: z.string().nullable() })
      .nullable()
      .describe('Where the request came from. Null: a call from code, or hidden.'),
    changed: z
      .array(z.object({ field: z.string(), before: scalar.optional(), after: scalar.optional() }))
      .describe('Values only of harmless fields.'),
  }),
)

export const auditList: z.ZodType<List<Open<AuditEntry>>> = named('AuditEntryList', listOf(auditEntry))

/** Filters of `GET /v1/audit-log`. */
export const auditQuery: z.ZodType<Filters<AuditLogQuery>> = z.object({
  ...page,
  actor: line.max(250).optional().describe('Id of the key, or name of the person or actor.'),
  action: z.enum(AUDIT_ACTIONS).optional(),
  target: line.max(250).optional().describe('Id of the target.'),
  recipient: line
    .max(MAX_RECIPIENT_ID)
    .optional()
    .describe("Changes of the preferences of a person, by the application's id."),
  channel: channelName.optional().describe('The channel of `to`.'),
  to: recipient.optional().describe('Changes of the suppression and preferences of an address on `channel`.'),
  from: time.optional().describe('At or after this time.'),
  until: time.optional().describe('Before this time.'),
})
