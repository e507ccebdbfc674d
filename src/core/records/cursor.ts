import { NotifierError } from '../errors/notifier-error.ts'

/**
 * The opaque, URL-safe cursor of a list: the sort key of a page's last row. No part may be negative.
 *
 * @example
 * const nextCursor = encodeCursor([1767225600000, 42]) // 'mjuohs00.16'
 */
export function encodeCursor(key: readonly number[]): string {
  return key.map((part) => part.toString(36)).join('.')
}

/**
 * Decodes a cursor.
 *
 * @param parts number of parts of this list's sort key
 * @throws NotifierError `invalid_parameter` for any other text
 *
 * @example
 * const [createdAt, seq] = decodeCursor('mjuohs00.16', 2) // [1767225600000, 42]
 */
export function decodeCursor(cursor: string, parts: number): number[] {
  const texts = cursor.split('.')
  const key = texts.map((text) => (/^[0-9a-z]+$/.test(text) ? Number.parseInt(text, 36) : Number.NaN))
  if (key.length === parts && key.every(Number.isSafeInteger)) return key
  throw notACursor()
}

/** The error of an invalid cursor. */
export function notACursor(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: 'The cursor does not belong to this list. Use "nextCursor" of an earlier page.',
    details: { field: 'cursor' },
  })
}
