import * as z from 'zod'
import { CHANNELS } from '../channel.ts'

/** Deepest nesting and most values in an object that a caller supplies, and most UTF-16 units of its keys and texts. */
const MAX_DEPTH = 16
const MAX_VALUES = 10_000
const MAX_UNITS = 1_048_576
const NO_JSON = `must be JSON, at most ${MAX_DEPTH} levels deep and with at most ${MAX_VALUES} values`
const TOO_LARGE = `must hold at most ${MAX_UNITS} characters of keys and texts`

const LONE_SURROGATE = /\p{Cs}/u

/** Well-formed Unicode text of a bounded length, in UTF-16 units. */
export function text(min: number, max: number): z.ZodString {
  return z.string().min(min).max(max).refine(isWellFormed, { message: 'must be well-formed Unicode' })
}

function isWellFormed(value: string): boolean {
  return !LONE_SURROGATE.test(value)
}

/** One of SPEC.md's channel values. */
export const channel: z.ZodEnum<{ [Name in (typeof CHANNELS)[number]]: Name }> = z.enum(CHANNELS)

const NO_INSTANT = 'must be an ISO 8601 time with a zone, such as 2026-01-15T09:30:00Z'

/** An ISO 8601 time with a zone, or a Date in calls from code; gives epoch milliseconds. */
export const instant: z.ZodType<number, string | Date> = z
  .union([z.iso.datetime({ offset: true, error: NO_INSTANT }), z.date()], NO_INSTANT)
  .transform((value) => new Date(value).getTime())

/** A JSON object of bounded size and depth. In calls from code also an instance of a class that has fields of its own. */
export const jsonObject: z.ZodType<Record<string, unknown>, Record<string, unknown>> = z
  .custom<Record<string, unknown>>((value) => isFields(value), { message: 'must be a plain object' })
  .superRefine((value, { addIssue }) => {
    const message = faultOf(value)
    if (message !== null) addIssue({ code: 'custom', message })
  })

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !hidesItsValues(value)
}

/** True of a Map, a Set, a Date and whatever else is no plain object and has no field of its own: it would count as empty. */
function hidesItsValues(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects, also of another realm, is the one that has none.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null
  return !plain && Object.keys(value).length === 0
}

/** What is wrong with an object that a caller supplies; null: nothing. */
function faultOf(root: unknown): string | null {
  let left = MAX_VALUES
  let units = MAX_UNITS
  const isText = (value: string): boolean => {
    units -= value.length
    return units >= 0 && isWellFormed(value)
  }
  const visit = (value: unknown, depth: number): boolean => {
    left -= 1
    if (left < 0 || depth > MAX_DEPTH) return false
    switch (typeof value) {
      case 'string':
        return isText(value)
      case 'number':
        return Number.isFinite(value)
      case 'boolean':
      case 'undefined':
        return true
      case 'object': {
        if (value === null) return true
        if (Array.isArray(value)) return value.every((item) => visit(item, depth + 1))
        // One that says itself what it is as JSON, like a Date, hides nothing.
        if (hidesItsValues(value) && !('toJSON' in value)) return false
        return Object.entries(value).every(([key, item]) => isText(key) && visit(item, depth + 1))
      }
      default:
        return false
    }
  }
  if (visit(root, 0)) return null
  return units < 0 ? TOO_LARGE : NO_JSON
}
