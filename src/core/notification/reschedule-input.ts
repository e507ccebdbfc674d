import * as z from 'zod'
import { instant } from '../input/fields.ts'
import { namedInput } from '../rest/named.ts'

export interface RescheduleInput {
  /** The new time, at most a year ahead: ISO 8601 with a zone, or a Date. Null, or in the past: now. */
  readonly sendAt: string | Date | null
}

/** The schema behind `notifications.reschedule` and its route. Output: epoch milliseconds. */
export const rescheduleInput: z.ZodType<{ readonly sendAt: number | null }, RescheduleInput> = namedInput(
  'RescheduleRequest',
  z.object({
    sendAt: instant.nullable().describe('The new time (ISO 8601). Null, or in the past: now.'),
  }),
)
