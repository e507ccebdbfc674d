import { createHash, timingSafeEqual } from 'node:crypto'
import type { ParsedReceipts, ReceiptRequest } from '../../../../src/ports/receipts.ts'
import { jsonOf } from './provider-answer.ts'

type Refused = Extract<ParsedReceipts, { kind: 'refused' }>

/** Not proven to come from the provider. */
export function unproven(message: string): Refused {
  return { kind: 'refused', why: 'signature', message }
}

/** From the provider, or from nobody known, but not in a form that can be read. */
export function malformed(message: string): Refused {
  return { kind: 'refused', why: 'malformed', message }
}

/** Compares a signature or secret in a time that depends on nothing but the length of what was sent. */
export function sameText(given: string, expected: string): boolean {
  // Of hashes, which are of one length: the length of the secret is no secret worth more than that.
  const digest = (text: string) => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** The body as JSON; undefined when it is none. */
export function jsonBody({ body }: ReceiptRequest): unknown {
  return jsonOf(new TextDecoder().decode(body))
}

/** Providers send a few dozen. */
const MAX_FIELDS = 1_000

/**
 * The body as a form; null when it has more fields than any provider sends. Whoever sends it has proven nothing yet, and
 * to parse fields, and to put them in order, takes time that grows with the square of their number.
 */
export function formBody({ body }: ReceiptRequest): URLSearchParams | null {
  const text = new TextDecoder().decode(body)
  return text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS ? null : new URLSearchParams(text)
}

/** The key of a report, from what identifies it; hashed where that is longer than the 255 characters of a key. */
export function dedupeKey(...parts: readonly (string | undefined)[]): string {
  const key = parts.map((part) => part ?? '').join('|')
  return key.length <= 255 ? key : createHash('sha256').update(key).digest('hex')
}

/**
 * Tells whether a signed time is near enough to the arrival of the request: at most `maxAgeMs` before and five minutes
 * after it. Times are epoch milliseconds.
 */
export function isFresh(timeMs: number, receivedAt: number, maxAgeMs: number): boolean {
  // A provider's clock may be a little ahead.
  return Number.isFinite(timeMs) && receivedAt - timeMs <= maxAgeMs && timeMs - receivedAt <= AHEAD_MS
}

const AHEAD_MS = 5 * 60_000

/** Reads a date of a provider: ISO 8601, or seconds since 1970. Undefined when it is neither. */
export function timeOf(value: unknown): number | undefined {
  const ms =
    typeof value === 'number'
      ? Math.round(value * 1000)
      : typeof value === 'string' && value !== ''
        ? Date.parse(value)
        : Number.NaN
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : undefined
}
