import * as z from 'zod'
import type { List, ListQuery } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, page } from '../../core/rest/query-schemas.ts'
import { listOf, timestamp } from '../../core/rest/schemas.ts'
import type { ErasureRecord, ExportedLine } from './model.ts'

/** An erasure. */
export const erasureRecord: z.ZodType<ErasureRecord> = named(
  'Erasure',
  z.object({
    id: z.string().nullable().describe('Null: a dry run.'),
    organizationId: z.string().nullable().describe('Null: over all organizations.'),
    status: z.enum(['running', 'completed', 'dry_run']),
    target: z.string().describe('Names the person by a keyed hash, as the audit log does.'),
    counts: z.object({
      notifications: z.int(),
      cancelled: z.int().describe('Notifications that waited.'),
      copies: z.int().describe('Notifications to others with a copy.'),
      deliveries: z.int().describe('Webhook deliveries. Not counted in a dry run.'),
      uploads: z.int(),
      preferences: z.int(),
      suppressions: z.int(),
      received: z.int().describe('Received messages and reports about unknown ones.'),
      records: z.int().describe('Others, such as those of plug-ins.'),
    }),
    createdAt: timestamp,
    completedAt: timestamp.nullable(),
  }),
)

export const erasureList: z.ZodType<List<ErasureRecord>> = named('ErasureList', listOf(erasureRecord))

/** Filters of `GET /v1/erasures`. */
export const erasureQuery: z.ZodType<Filters<ListQuery>> = z.object(page)

/** A line of an export. */
export const exportedLine: z.ZodType<ExportedLine> = named(
  'ExportedLine',
  z.looseObject({ type: z.string().describe('Each line is an object: `notification`, `suppression`, …') }),
)
