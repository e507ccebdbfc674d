import { describe, expect, it } from 'vitest'
import { type HttpResult, interpretPost } from '../../../../src/core/channels/http-answer.ts'
import { LONGEST_HINT_MS } from '../../../../src/core/delivery/retry-delay.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

const answer = (status: number, headers: Record<string, string> = {}): HttpResult => ({
  kind: 'answered',
  status,
  headers,
  body: '',
  durationMs: 1,
})

describe('Retry-After', () => {
  it.each<[string | undefined, number | undefined]>([
    ['0', undefined],
    ['1', 1_000],
    [' 120 ', 120_000],
    ['1.5', 1_500],
    ['0.0001', 1],
    ['999999999', LONGEST_HINT_MS],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Sun, 21 Nov 2027 12:00:00 GMT', LONGEST_HINT_MS],
    ['Sat, 21 Nov 2026 12:00:00 GMT', undefined],
    ['Sat, 21 Nov 2026 11:00:00 GMT', undefined],
    ['Sat, 21 Foo 2026 11:00:00 GMT', undefined],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 11:00:00 GMT', undefined],
    ['Sunday, 06-Nov-94 08:49:37 GMT', undefined],
    ['Monday, 21-Nov-27 12:00:00 GMT', LONGEST_HINT_MS],
    ['Saturday, 21-Foo-26 12:00:30 GMT', undefined],
    ['Sat Nov 21 12:00:30 2026', 30_000],
    ['Tue Dec  1 12:00:00 2026', LONGEST_HINT_MS],
    ['Sun Nov  6 08:49:37 1994', undefined],
    ['Sat Nov 21 12:00:30 2026 GMT', undefined],
    ['2026-11-21T12:00:30Z', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
    ['soon', undefined],
    ['9'.repeat(400), 86_400_000],
    ['', undefined],
    [undefined, undefined],
  ])('%j is read as %j ms', (value, expected) => {
    const headers: Record<string, string> = value === undefined ? {} : { 'retry-after': value }
    const verdict = interpretPost(answer(429, headers), '200', NOW)
    expect('retryAfterMs' in verdict ? verdict.retryAfterMs : null).toBe(expected)
  })
})

describe('interpretPost', () => {
  it('takes 200 alone as success, unless the receiver chose any 2xx', () => {
    expect(interpretPost(answer(200), '200', NOW)).toEqual({ kind: 'succeeded' })
    for (const status of [200, 201, 202, 204, 299]) {
      expect(interpretPost(answer(status), '2xx', NOW)).toEqual({ kind: 'succeeded' })
    }
    for (const status of [201, 202, 204]) {
      expect(interpretPost(answer(status), '200', NOW)).toMatchObject({
        kind: 'failed',
        code: 'endpoint_error',
        message: `The endpoint answered ${status}, and only 200 counts as success.`,
        providerCode: String(status),
        ambiguous: false,
      })
    }
  })

  it('takes 410 as the end of the endpoint', () => {
    expect(interpretPost(answer(410), '2xx', NOW)).toMatchObject({ kind: 'refused', code: 'endpoint_gone' })
  })

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 403, 404, 406, 409, 422, 429, 500, 502, 503, 504, 599])(
    'takes %i as worth another attempt',
    (status) => {
      expect(interpretPost(answer(status), '2xx', NOW)).toMatchObject({
        kind: 'failed',
        code: 'endpoint_error',
        providerCode: String(status),
      })
    },
  )

  it('respects Retry-After where the status speaks of overload', () => {
    for (const status of [429, 502, 503, 504]) {
      expect(interpretPost(answer(status, { 'retry-after': '7' }), '200', NOW)).toMatchObject({
        retryAfterMs: 7_000,
      })
    }
    for (const status of [201, 302, 400, 404, 500]) {
      expect(interpretPost(answer(status, { 'retry-after': '7' }), '200', NOW)).not.toHaveProperty(
        'retryAfterMs',
        7_000,
      )
    }
  })

  it.each([
    ['blocked', false, { kind: 'refused', code: 'blocked_address' }],
    ['unreachable', false, { kind: 'failed', code: 'endpoint_error', ambiguous: false }],
    ['broken', true, { kind: 'failed', code: 'endpoint_error', ambiguous: true }],
    ['timeout', false, { kind: 'failed', code: 'endpoint_timeout', ambiguous: false }],
    ['timeout', true, { kind: 'failed', code: 'endpoint_timeout', ambiguous: true }],
    ['aborted', true, { kind: 'failed', code: 'endpoint_timeout', ambiguous: true }],
  ] as const)('interprets %s (request sent: %s)', (reason, requestSent, expected) => {
    const failure: HttpResult = { kind: 'failed', reason, requestSent, message: 'Why.', durationMs: 1 }
    expect(interpretPost(failure, '200', NOW)).toMatchObject({
      ...expected,
      message: 'Why.',
      providerCode: reason,
    })
  })
})
