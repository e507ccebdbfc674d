import * as z from 'zod'
import { CHANNEL_NAME } from '../channels/channel-kind.ts'
import { named } from '../rest/named.ts'
import { isFields, isWellFormed, toJsonObject } from './json.ts'

/**
 * Well-formed Unicode text of limited length, in UTF-16 units.
 *
 * @param instead the message for what is no text; undefined: the usual one
 */
export function text(min: number, max: number, instead?: z.core.$ZodErrorMap): z.ZodString {
  return z
    .string({ error: instead })
    .min(min)
    .max(max)
    .refine(isWellFormed, { message: 'must be well-formed Unicode' })
}

/** Controls, and marks of direction that make a text read otherwise than it is. */
const HIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** A name that people read: one line of {@link text}, without hidden characters. */
export function nameText(max: number): z.ZodString {
  return text(1, max).refine((name) => !HIDDEN.test(name), {
    message: 'must be one line without control characters and marks of direction',
  })
}

/** Like {@link nameText}, with line breaks. */
export function descriptionText(max: number): z.ZodString {
  return text(0, max).refine((words) => !HIDDEN.test(words.replaceAll(/[\n\r\t]/g, ' ')), {
    message: 'must not have control characters other than line breaks, nor marks of direction',
  })
}

/**
 * Counts the fields of an object before each is checked: a hundred thousand would take a quarter of a second.
 *
 * @param message the error for more than `most` fields
 */
export function fewFields<Fields>(
  most: number,
  message: string,
  schema: z.ZodType<Fields>,
): z.ZodType<Fields, Fields> {
  const counted = z.preprocess((given, { addIssue }) => {
    if (!isFields(given)) return given
    // A record leaves it out.
    if (Object.hasOwn(given, '__proto__'))
      addIssue({ code: 'custom', message: 'must not have the field "__proto__"' })
    else if (Object.keys(given).length > most) addIssue({ code: 'custom', message })
    else return given
    return z.NEVER
  }, schema)
  return counted as unknown as z.ZodType<Fields, Fields>
}

/** The name of a channel, configured or not. */
export const channel: z.ZodType<string, string> = named(
  'Channel',
  z.string().regex(CHANNEL_NAME, 'must be the name of a channel, such as email'),
)

/** The valid form of a time as text. */
export const NO_INSTANT = 'must be an ISO 8601 time with a zone, such as 2026-01-15T09:30:00Z'

const NO_TIME = `${NO_INSTANT} (in code also a Date)`

/** An ISO 8601 time with a zone, or a Date in calls from code. Output: epoch milliseconds. */
export const instant: z.ZodType<number, string | Date> = z
  .union([z.iso.datetime({ offset: true, error: NO_TIME }), z.date()], NO_TIME)
  .transform((value) => new Date(value).getTime())

const DAY_MS = 86_400_000

/** How long what a rotation replaces is still valid: milliseconds, at most 30 days, by default a day. */
export function overlap(description: string): z.ZodDefault<z.ZodInt> {
  return z
    .int()
    .min(0)
    .max(30 * DAY_MS)
    .default(DAY_MS)
    .describe(description)
}

/**
 * A JSON object of limited size and depth. Calls from code may also pass instances of classes with own fields, and
 * values with another JSON form.
 */
export const jsonObject: z.ZodType<Record<string, unknown>, Record<string, unknown>> = z
  .custom<Record<string, unknown>>((value) => isFields(value), { message: 'must be a plain object' })
  .transform((given, { addIssue }) => {
    const json = toJsonObject(given)
    if ('value' in json) return json.value
    addIssue({ code: 'custom', message: json.fault })
    return z.NEVER
  })
