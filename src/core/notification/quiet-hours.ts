import * as z from 'zod'
import { zoneByName } from '../input/locale-fields.ts'
import { named } from '../rest/named.ts'

export type Weekday = (typeof WEEKDAYS)[number]

/** A time of some days in which messages wait. It belongs to the day on which it begins. */
export interface QuietWindow {
  /** The days on which it begins: `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`. Default: all. */
  readonly days?: readonly Weekday[] | undefined
  /** Local time from `00:00` to `23:59`. */
  readonly from: string
  /** Local time, as `from`. Not later than `from`: it ends on the next day. */
  readonly to: string
}

/** When messages wait, in local time. Windows that overlap or adjoin are one. */
export interface QuietHours {
  /** Name of an IANA time zone, such as `Europe/Zurich`, not an offset. Stored in one spelling. */
  readonly zone: string
  /** 1 to 14. Together they leave a time of the week free. */
  readonly windows: readonly QuietWindow[]
  /** Dates from 1970 to 9999, such as `2026-12-24`, on which no window begins; at most 100. */
  readonly except?: readonly string[] | undefined
}

/** As `Date.getUTCDay` numbers them. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

const MOST_WINDOWS = 14
const MOST_DATES = 100
export const DAY_MINUTES = 1_440
const WEEK_MINUTES = 7 * DAY_MINUTES

/** Minutes since midnight. @param time `HH:MM` */
export function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/
const time = z.string().regex(TIME, 'must be a local time from 00:00 to 23:59, such as 07:30')

const WRONG_DATE = 'must be a date that exists, from 1970 to 9999, such as 2026-12-24'
const NAMED_DAYS = 'must be mon, tue, wed, thu, fri, sat or sun'
const NO_LENGTH =
  'must differ from "from": a window of zero length or of all day is none. Two windows that adjoin make a longer one'

const quietWindow = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS, NAMED_DAYS))
      .min(1, 'must name a day; without it the window begins on all days')
      .refine((days) => new Set(days).size === days.length, 'must name each day once')
      .optional()
      .describe('The days on which it begins. Default: all.'),
    from: time.describe('Local time from `00:00` to `23:59`.'),
    to: time.describe('Local time. Not later than `from`: it ends on the next day.'),
  })
  .refine(({ from, to }) => from !== to, { message: NO_LENGTH, path: ['to'] })

const windows = z
  .array(quietWindow)
  .min(1, 'must have a window; false instead of quiet hours means none')
  .max(MOST_WINDOWS, `must have at most ${MOST_WINDOWS} windows`)
  .refine(leavesTime, 'must leave a time of the week free: messages would wait for ever')

/** The schema of {@link QuietHours}, in requests and responses. */
export const quietHours: z.ZodType<QuietHours, QuietHours> = named(
  'QuietHours',
  z
    .strictObject({
      zone: zoneByName.describe('Name of an IANA time zone, such as `Europe/Zurich`.'),
      windows: windows.describe('Windows that overlap or adjoin are one.'),
      except: z
        .array(z.iso.date(WRONG_DATE).refine((date) => date >= '1970', WRONG_DATE))
        .max(MOST_DATES, `must have at most ${MOST_DATES} dates`)
        .optional()
        .describe('Dates on which no window begins.'),
    })
    .describe('When messages wait, in local time.'),
)

/** Whether a minute of a week without a change of the clocks is in no window. */
function leavesTime(given: readonly QuietWindow[]): boolean {
  const spans = given
    .flatMap(({ days = WEEKDAYS, from, to }) => {
      const length = (minutesOf(to) - minutesOf(from) + DAY_MINUTES) % DAY_MINUTES
      return days.map((day) => {
        const begin = WEEKDAYS.indexOf(day) * DAY_MINUTES + minutesOf(from)
        return [begin, begin + length] as const
      })
    })
    .sort(([one], [other]) => one - other)
  const last = Math.max(...spans.map(([, end]) => end))
  // What ends in the next week covers the begin of this one.
  let covered = Math.max(0, last - WEEK_MINUTES)
  for (const [begin, end] of spans) {
    if (begin > covered) return true
    covered = Math.max(covered, end)
  }
  return covered < WEEK_MINUTES
}
