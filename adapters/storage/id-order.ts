import { decodeCursor } from '../../src/core/records/cursor.ts'

const PREFIX = 'notif_'
/** Digits of each part: a larger number would not be exact. */
const DIGITS = 14
/** Numbers of a key: three parts of an id, and the sequence. */
const ID_KEY_PARTS = 4

/**
 * The sort key of lists over all organizations: the id as numbers, each with a one in front of its digits, then the
 * sequence of an entry of the log.
 *
 * @param sequence 0: the notification itself
 *
 * @example
 * const nextCursor = encodeCursor(idKey('notif_1234', 2)) // below its second entry
 */
export function idKey(id: string, sequence = 0): readonly number[] {
  const digits = id.slice(PREFIX.length)
  const part = (at: number): number => Number(`1${digits.slice(at * DIGITS, (at + 1) * DIGITS)}`)
  return [part(0), part(1), part(2), sequence]
}

/**
 * The id of an {@link idKey}.
 *
 * @example
 * const id = idOf(idKey('notif_1234')) // 'notif_1234'
 */
export function idOf(key: readonly number[]): string {
  return (
    PREFIX +
    key
      .slice(0, -1)
      .map((part) => String(part).slice(1))
      .join('')
  )
}

/** Where a page with this cursor continues: below these. */
export function belowCursor(cursor: string): { readonly id: string; readonly sequence: number } {
  const key = decodeCursor(cursor, ID_KEY_PARTS)
  return { id: idOf(key), sequence: key.at(-1) ?? 0 }
}
