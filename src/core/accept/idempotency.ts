import { NotifierError } from '../errors/notifier-error.ts'
import type { AcceptRequest, IdempotencyKey, IdempotencyRecord } from '../ports/storage/accept.ts'

/** Lifetime of a key. */
const TTL_MS = 24 * 60 * 60 * 1000

const VISIBLE_ASCII = /^[!-~]{1,255}$/

/** One use of an idempotency key. */
export interface IdempotentUse {
  readonly key: IdempotencyKey
  readonly fingerprint: string
}

/**
 * Rejects values other than text: as a key, null would be shared by all callers without one.
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

/** @throws NotifierError `idempotency_key_reused` if the record belongs to another request */
export function assertSameRequest(record: IdempotencyRecord, use: IdempotentUse): void {
  if (record.fingerprint !== use.fingerprint)
    throw new NotifierError('idempotency_key_reused', { details: { field: 'idempotencyKey' } })
}

/** The idempotency record for the storage. @param recorded of the result: what a replay answers with */
export function recordFor<Result>(
  use: IdempotentUse | null,
  result: Result,
  recorded: (result: Result) => unknown,
): Pick<AcceptRequest, 'idempotency'> {
  if (use === null) return {}
  const { key, fingerprint } = use
  return { idempotency: { ...key, fingerprint, result: JSON.stringify(recorded(result)), ttlMs: TTL_MS } }
}
