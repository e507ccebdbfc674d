import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../../src/core/errors/catalogue.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { errorAnswer, publicError } from '../../../src/http/errors.ts'

const codes = Object.keys(ERRORS) as (keyof typeof ERRORS)[]

describe('both body forms of every code', () => {
  it.each(codes)('%s', (code) => {
    const error = new NotifierError(code, { details: { field: 'to' } })
    const { status, retryable } = ERRORS[code]
    const retryAfter = retryable || status === 429 ? 1 : null

    const nested = errorAnswer(error, 'req_1', 'nested')
    expect(nested).toMatchObject({ status, retryAfter })
    expect(JSON.parse(nested.body)).toEqual({
      error: {
        code,
        message: error.message,
        details: { field: 'to' },
        request_id: 'req_1',
        ...(retryAfter === null ? {} : { retry_after: 1 }),
      },
    })

    const flat = errorAnswer(error, 'req_1', 'flat')
    expect(flat).toMatchObject({ status, retryAfter })
    expect(JSON.parse(flat.body)).toEqual({
      error: error.message,
      code: code.toUpperCase(),
      statusCode: status,
    })
  })

  it('takes the status of the error where one code has two', () => {
    const answer = errorAnswer(new NotifierError('template_not_found', { status: 422 }), 'req_1', 'flat')
    expect(answer.status).toBe(422)
    expect(JSON.parse(answer.body)).toMatchObject({ statusCode: 422 })
  })

  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_999.5, 60],
  ])('rounds a wait of %d ms up to %d s', (retryAfterMs, seconds) => {
    const answer = errorAnswer(new NotifierError('rate_limit_exceeded', { retryAfterMs }), 'req_1', 'nested')
    expect(answer.retryAfter).toBe(seconds)
    expect(JSON.parse(answer.body).error.retry_after).toBe(seconds)
  })
})

describe('what a caller may know', () => {
  it.each(codes)('%s keeps its code, or hides what only the operator can mend', (code) => {
    const shown = publicError(new NotifierError(code, { message: 'the words', details: { secret: 1 } }))
    // The author of the application finds this fault in the log of the provider.
    if (ERRORS[code].status < 500 || code === 'body_already_read') {
      expect(shown).toMatchObject({ code, message: 'the words', details: { secret: 1 } })
    } else {
      expect(['internal_server_error', 'service_unavailable']).toContain(shown.code)
      expect(shown.message).not.toContain('the words')
      expect(shown.details).toBeUndefined()
    }
  })

  it.each([
    ['an exception', new Error('password=hunter2')],
    ['a thrown text', 'password=hunter2'],
    ['undefined', undefined],
    [
      'a stranger with our name',
      Object.assign(new Error('password=hunter2'), { name: 'NotifierError', code: 'nope' }),
    ],
  ])('%s becomes internal_server_error without a word of it', (_title, thrown) => {
    const shown = publicError(thrown)
    expect(shown.code).toBe('internal_server_error')
    expect(errorAnswer(shown, 'req_1', 'nested').body).not.toContain('hunter2')
  })

  it('keeps the wait of an outage', () => {
    expect(publicError(new NotifierError('service_unavailable', { retryAfterMs: 7000 })).retryAfterMs).toBe(
      7000,
    )
  })
})
