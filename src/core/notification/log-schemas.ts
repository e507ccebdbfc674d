import * as z from 'zod'
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
import type { LogRecord } from './model.ts'

/** One event of a notification in the delivery log. */
const logEntry: z.ZodType<Open<LogRecord>> = named(
  'LogEntry',
  z.object({
    id: z.string(),
    notificationId: z.string(),
    organizationId: z.string(),
    channel: channelName,
    to: z.string(),
    status: notificationStatus,
    event: z.string(),
    provider: z.string().nullable(),
    attempt: z.int().nullable(),
    segments: z.int().nullable().describe('Segments of a text message that was handed over.'),
    machine: z.boolean().describe('True: opened or clicked by a machine; the status is unchanged.'),
    error: failure.nullable(),
    ...outcomeTextFields,
    template: z.string().nullable(),
    ...labelFields,
    createdAt: timestamp,
  }),
)

export const logList: z.ZodType<List<Open<LogRecord>>> = named('LogList', listOf(logEntry))
