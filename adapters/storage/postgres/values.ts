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

/** A value in the form in which it is bound: arrays as the text that PostgreSQL reads, in one pass. */
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

/** What JSON escapes in another way than an array of PostgreSQL does: control characters, and lone surrogates. */
const NOT_AS_JSON = /[\p{Cc}\p{Cs}]/u

function element(value: string | number | boolean | null): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return String(value)
  // Half as long as to look for what needs an escape: most of what is stored is full of quotes.
  if (!NOT_AS_JSON.test(value)) return JSON.stringify(value)
  return `"${toStored(value).replaceAll(/["\\]/g, '\\$&')}"`
}

/** The one value of a column that has no other. */
export function once<Item extends string | number | boolean>(column: readonly Item[]): readonly Item[] {
  return column.every((value) => value === column[0]) ? column.slice(0, 1) : column
}

/** Null for a column that is empty. */
export function unlessEmpty<Column extends readonly (string | number | null)[]>(
  column: Column,
): Column | null {
  return column.every((value) => value === null) ? null : column
}
