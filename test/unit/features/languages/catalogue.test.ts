import { describe, expect, it } from 'vitest'
import { ERRORS, isErrorCode } from '../../../../src/core/errors/catalogue.ts'
import { isNotifierError, NotifierError } from '../../../../src/core/errors/notifier-error.ts'

/** SPEC.md "Codes by status". `template_not_found` is there twice: 404 as a resource, 422 in a send. */
const BY_STATUS = {
  invalid_api_key: 401,
  expired_api_key: 401,
  missing_authorization: 401,
  insufficient_permissions: 403,
  organization_mismatch: 403,
  invalid_email: 422,
  invalid_phone: 422,
  missing_required_field: 422,
  invalid_channel: 422,
  invalid_template_variable: 422,
  notification_not_found: 404,
  template_not_found: 404,
  rate_limit_exceeded: 429,
  notification_quota_exceeded: 429,
  internal_server_error: 500,
  service_unavailable: 503,
}

/** SPEC.md "Channel-specific codes". */
const OF_CHANNELS = [
  'invalid_sender',
  'blocked_recipient',
  'spam_detected',
  'invalid_phone_number',
  'unsubscribed',
  'carrier_blocked',
  'channel_not_found',
  'bot_not_in_channel',
  'invalid_slack_token',
]

/** Codes beside those of the specification. */
const EXTRA = {
  invalid_parameter: 400,
  invalid_json: 400,
  https_required: 403,
  ip_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  template_already_exists: 409,
  idempotency_in_progress: 409,
  idempotency_key_reused: 422,
  payload_too_large: 413,
  invalid_recipient: 422,
}

describe('the error catalogue', () => {
  it.each(Object.entries({ ...BY_STATUS, ...EXTRA }))('has %s with status %i', (code, status) => {
    expect(ERRORS[code as keyof typeof ERRORS]).toMatchObject({ status })
  })

  it.each(OF_CHANNELS)('has %s', (code) => {
    expect(isErrorCode(code)).toBe(true)
  })

  it('calls retryable what SPEC.md does, and no other code of SPEC.md', () => {
    const spec = [...Object.keys(BY_STATUS), ...OF_CHANNELS]
    const retryable = spec.filter((code) => ERRORS[code as keyof typeof ERRORS].retryable)
    expect(retryable.sort()).toEqual(['internal_server_error', 'rate_limit_exceeded', 'service_unavailable'])
  })

  it('says in sentences what happened and what to do', () => {
    for (const [code, { message, action }] of Object.entries(ERRORS)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(message, code).toMatch(/^[A-Z].*\.$/)
      expect(action, code).toMatch(/^[A-Z].*\.$/)
    }
  })

  it('is not fooled by what every object has', () => {
    for (const code of ['constructor', 'toString', '__proto__', '', undefined, 5])
      expect(isErrorCode(code)).toBe(false)
  })
})

describe('NotifierError', () => {
  it('has the status and sentence of its code, unless told otherwise', () => {
    const plain = new NotifierError('template_not_found')
    expect(plain).toMatchObject({ status: 404, retryable: false, name: 'NotifierError' })
    expect(plain.message).toContain(ERRORS.template_not_found.message)
    const other = new NotifierError('template_not_found', { status: 422, message: 'No.', retryAfterMs: 5 })
    expect(other).toMatchObject({ status: 422, message: 'No.', retryAfterMs: 5 })
    expect(new NotifierError('service_unavailable').retryable).toBe(true)
  })

  it('has a whole number of milliseconds to wait, never too few', () => {
    const waits = [0, 1, 0.01, 9_999.0004].map(
      (retryAfterMs) => new NotifierError('rate_limit_exceeded', { retryAfterMs }).retryAfterMs,
    )
    expect(waits).toEqual([0, 1, 1, 10_000])
  })

  it('is told from any other error', () => {
    expect(isNotifierError(new NotifierError('not_found'))).toBe(true)
    for (const other of [new Error('x'), { name: 'NotifierError', code: 'not_found' }, null, 'not_found'])
      expect(isNotifierError(other)).toBe(false)
  })
})
