import { createHash, timingSafeEqual } from 'node:crypto'
import type { ParsedReceipts, ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { formFields } from '../../../../src/core/rest/form-fields.ts'
import { jsonOf } from './provider-answer.ts'

type Refused = Extract<ParsedReceipts, { kind: 'refused' }>

/** A request without proof of its origin. */
export function unproven(message: string): Refused {
  return { kind: 'refused', why: 'signature', message }
}

/** A request in an unknown format. */
export function malformed(message: string): Refused {
  return { kind: 'refused', why: 'malformed', message }
}

/**
 * Compares a signature or secret in time that depends only on the length of the input.
 *
 * @example
 * const signature = createHmac('sha256', secret).update(request.body).digest('hex')
 * const isSigned = sameText(request.headers['x-acme-signature'] ?? '', signature)
 */
export function sameText(given: string, expected: string): boolean {
  // Compares hashes of equal length, so that the secret's length has no influence.
  const digest = (text: string) => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** The body as JSON. Undefined: invalid. */
export function jsonBody({ body }: ReceiptRequest): unknown {
  return jsonOf(new TextDecoder().decode(body))
}

/** Providers send a few dozen. */
const MAX_FIELDS = 1_000

/** The body as a form. Null: more fields than any provider sends. The sender is unproven at this point. */
export function formBody({ body }: ReceiptRequest): URLSearchParams | null {
  return formFields(body, MAX_FIELDS)
}

/**
 * A report's deduplication key from its identifying parts, hashed if longer than 255 characters.
 *
 * @example
 * const key = dedupeKey('msg_123', 'delivered', '1767225600')
 */
export function dedupeKey(...parts: readonly (string | undefined)[]): string {
  const key = parts.map((part) => part ?? '').join('|')
  return key.length <= 255 ? key : createHash('sha256').update(key).digest('hex')
}

/**
 * True: the signed time is at most `maxAgeMs` before and five minutes after the arrival. Times are epoch milliseconds.
 *
 * @example
 * const isRecent = isFresh(Number(request.headers['x-acme-time']), request.receivedAt, 5 * 60 * 1000)
 */
export function isFresh(timeMs: number, receivedAt: number, maxAgeMs: number): boolean {
  // A provider's clock may be slightly ahead.
  return Number.isFinite(timeMs) && receivedAt - timeMs <= maxAgeMs && timeMs - receivedAt <= AHEAD_MS
}

const AHEAD_MS = 5 * 60_000

/** {@link isFresh} for the digits of Unix seconds. */
export function isFreshSeconds(text: string, { receivedAt }: ReceiptRequest, maxAgeMs: number): boolean {
  return /^\d{1,12}$/.test(text) && isFresh(Number(text) * 1000, receivedAt, maxAgeMs)
}

/** Parses a provider's date: ISO 8601 or Unix seconds. Undefined: neither. */
export function timeOf(value: unknown): number | undefined {
  const ms =
    typeof value === 'number'
      ? Math.round(value * 1000)
      : typeof value === 'string' && value !== ''
        ? Date.parse(value)
        : Number.NaN
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : undefined
}
