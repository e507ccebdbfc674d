import { NotifierError } from '../errors/notifier-error.ts'
import type { HttpRequest } from './message.ts'

const KEY = /^[\x21-\x7e]{1,255}$/
const QUOTED = /^"(.*)"$/

/**
 * The request's idempotency key. Undefined: none. The IETF draft quotes it and most clients do not, so one pair of
 * quotes is removed.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function idempotencyKey(request: HttpRequest): string | undefined {
  const header = request.header('idempotency-key')
  if (header === undefined) return undefined
  const key = QUOTED.exec(header)?.[1] ?? header
  if (!KEY.test(key)) {
    throw new NotifierError('invalid_parameter', {
      message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
      details: { field: 'Idempotency-Key' },
    })
  }
  return key
}

/**
 * Refuses X-Test-Mode on operations that always deliver.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function refuseTestMode(request: HttpRequest): void {
  if (!isTestMode(request)) return
  throw new NotifierError('invalid_parameter', {
    message: 'The header X-Test-Mode is supported by single sends only. Remove it to carry out this request.',
    details: { field: 'X-Test-Mode' },
  })
}

/**
 * True: validate the request only. Any value but `true` and `false` is refused, so that `X-Test-Mode: 1` does not cause
 * a real delivery.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function isTestMode(request: HttpRequest): boolean {
  const header = request.header('x-test-mode')?.toLowerCase()
  if (header === undefined || header === 'false') return false
  if (header === 'true') return true
  throw new NotifierError('invalid_parameter', {
    message: 'The header X-Test-Mode must be "true" or "false".',
    details: { field: 'X-Test-Mode' },
  })
}
