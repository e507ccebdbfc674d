import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { HttpRequest } from './message.ts'

const KEY = /^[\x21-\x7e]{1,255}$/
const QUOTED = /^"(.*)"$/

/**
 * The request's idempotency key; undefined: none. The IETF draft writes it as a quoted string, most clients send it
 * bare: one pair of quotes is taken off.
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
 * For what sends something and cannot only be validated.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function refuseTestMode(request: HttpRequest): void {
  if (!isTestMode(request)) return
  throw new NotifierError('invalid_parameter', {
    message:
      'The header X-Test-Mode is for single sends: this request cannot be validated without being carried out.',
    details: { field: 'X-Test-Mode' },
  })
}

/**
 * True when the request is only to be validated. Any value but `true` and `false` is refused: who writes
 * `X-Test-Mode: 1` must not find out by a real delivery.
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
