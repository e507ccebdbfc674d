import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { AcceptRequest, IdempotencyKey, IdempotencyRecord } from '../../ports/storage/accept.ts'

/** How long a key is remembered. */
const TTL_MS = 24 * 60 * 60 * 1000

const VISIBLE_ASCII = /^[!-~]{1,255}$/

/** One use of an idempotency key. */
export interface IdempotentUse {
  readonly key: IdempotencyKey
  readonly fingerprint: string
}

/**
 * A key that is no text, as null, would be one key for whatever has none.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function assertIdempotencyKey(key: string): void {
  if (typeof key === 'string' && VISIBLE_ASCII.test(key)) return
  throw new NotifierError('invalid_parameter', {
    message: 'An idempotency key must be a text of 1 to 255 visible ASCII characters.',
    details: { field: 'idempotencyKey' },
  })
}

/** @throws NotifierError `idempotency_key_reused` when the record is of another request */
export function assertSameRequest(record: IdempotencyRecord, use: IdempotentUse): void {
  if (record.fingerprint !== use.fingerprint)
    throw new NotifierError('idempotency_key_reused', { details: { field: 'idempotencyKey' } })
}

/** What the storage keeps beside the notifications, so that a repetition gets the same answer. */
export function recordFor(use: IdempotentUse | null, result: unknown): Pick<AcceptRequest, 'idempotency'> {
  if (use === null) return {}
  return {
    idempotency: { ...use.key, fingerprint: use.fingerprint, result: JSON.stringify(result), ttlMs: TTL_MS },
  }
}
