import { fromStored, toStored } from './text.ts'

/** What a statement may be given. Arrays are of one type, which the statement names. */
export type Value =
  | string
  | number
  | boolean
  | null
  | readonly (string | null)[]
  | readonly (number | null)[]
  | readonly boolean[]

const toText = (value: string): unknown => fromStored(value)

/** By type OID, in text form: bool, int8, int2, int4, float4, float8. Everything else that is read is text. */
const PARSERS: ReadonlyMap<number, (value: string) => unknown> = new Map<number, (value: string) => unknown>([
  [16, (value) => value === 't'],
  [20, Number],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
])

/**
 * Reads columns in the same way whatever parsers the application has set for its own pool: every number that is
 * stored is a safe integer.
 */
export const types: { getTypeParser(oid: number, format?: string): (value: string) => unknown } = {
  getTypeParser: (oid) => PARSERS.get(oid) ?? toText,
}

/** A value in the form in which it is bound. */
export function bound(value: Value): unknown {
  if (typeof value === 'string') return toStored(value)
  if (value === null || typeof value !== 'object') return value
  return value.map((one) => (typeof one === 'string' ? toStored(one) : one))
}
