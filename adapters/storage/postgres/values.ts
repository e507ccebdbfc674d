import { fromStored, toStored } from './text.ts'

/** Parameter types. Arrays have one element type, which the statement names. */
export type Value =
  | string
  | number
  | boolean
  | null
  | readonly (string | null)[]
  | readonly (number | null)[]
  | readonly boolean[]

const toText = (value: string): unknown => fromStored(value)

/** By type OID, in text format: bool, int8, int2, int4, float4, float8. All other types stay text. */
const PARSERS: ReadonlyMap<number, (value: string) => unknown> = new Map<number, (value: string) => unknown>([
  [16, (value) => value === 't'],
  [20, Number],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
])

/**
 * Parses columns independently of the type parsers that the application set on its pool. Every stored number is a safe
 * integer.
 */
export const types: { getTypeParser(oid: number, format?: string): (value: string) => unknown } = {
  getTypeParser: (oid) => PARSERS.get(oid) ?? toText,
}

/** A value in the form for binding. Arrays become PostgreSQL array literals, in one pass. */
export function bound(value: Value): unknown {
  if (typeof value === 'string') return toStored(value)
  if (value === null || typeof value !== 'object') return value
  let text = '{'
  for (let index = 0; index < value.length; index += 1) {
    if (index > 0) text += ','
    text += element(value[index] ?? null)
  }
  return `${text}}`
}

const QUOTED = /["\\]/

/** Characters that JSON escapes differently from PostgreSQL arrays: control characters and lone surrogates. */
const NOT_AS_JSON = /[\p{Cc}\p{Cs}]/u

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return String(value)
  if (!QUOTED.test(value)) return `"${toStored(value)}"`
  // Takes half the time of escaping by regular expression: most stored values are full of quotes.
  if (!NOT_AS_JSON.test(value)) return JSON.stringify(value)
  return `"${toStored(value).replaceAll(/["\\]/g, '\\$&')}"`
}

/** The one value of a column with equal values. */
export function once<Item extends string | number | boolean>(column: readonly Item[]): readonly Item[] {
  return column.every((value) => value === column[0]) ? column.slice(0, 1) : column
}

/** Null: the column is empty. */
export function unlessEmpty<Column extends readonly (string | number | null)[]>(
  column: Column,
): Column | null {
  return column.every((value) => value === null) ? null : column
}
