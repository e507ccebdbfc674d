import { NotifierError } from './errors/notifier-error.ts'

/** The opaque, url-safe `cursor` of a list: the sort key of the last row of a page, of which no part is negative. */
export function encodeCursor(key: readonly number[]): string {
  return key.map((part) => part.toString(36)).join('.')
}

/**
 * Reads a cursor back.
 *
 * @param parts how many numbers the sort key of this list has
 * @throws NotifierError `invalid_parameter` for anything that is not a cursor of such a list.
 */
export function decodeCursor(cursor: string, parts: number): number[] {
  const texts = cursor.split('.')
  const key = texts.map((text) => (/^[0-9a-z]+$/.test(text) ? Number.parseInt(text, 36) : Number.NaN))
  if (key.length === parts && key.every(Number.isSafeInteger)) return key
  throw notACursor()
}

/** What a cursor that is none of this list is refused with. */
export function notACursor(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: 'This is not a cursor of this list. Use "nextCursor" of an earlier page.',
    details: { field: 'cursor' },
  })
}
