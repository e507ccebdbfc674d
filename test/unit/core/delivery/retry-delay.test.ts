import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  LONGEST_HINT_MS,
  maxAttempts,
  PROVIDER_RETRY,
  type RetryPolicy,
  retryDelay,
  WEBHOOK_RETRY,
} from '../../../../src/core/delivery/retry-delay.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const policy: fc.Arbitrary<RetryPolicy> = fc.oneof(
  fc.record({
    kind: fc.constant('exponential' as const),
    maxAttempts: fc.integer({ min: 1, max: 2_000 }),
    baseMs: fc.integer({ min: 1, max: 60_000 }),
    capMs: fc.integer({ min: 1, max: 86_400_000 }),
  }),
  fc.record({
    kind: fc.constant('schedule' as const),
    delaysMs: fc.array(fc.integer({ min: 0, max: 86_400_000 }), { maxLength: 12 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
)

describe('retryDelay', () => {
  it('is a whole number of milliseconds for every attempt but the last, and null from there', () => {
    fc.assert(
      fc.property(policy, random, fc.option(fc.integer({ min: 0, max: 2 ** 40 })), (plan, chance, hint) => {
        const last = maxAttempts(plan)
        for (const attempt of [1, Math.ceil(last / 2), last - 1]) {
          if (attempt < 1 || attempt >= last) continue
          const delay = retryDelay(plan, attempt, chance, hint ?? undefined)
          expect(Number.isSafeInteger(delay)).toBe(true)
          expect(delay).toBeGreaterThanOrEqual(0)
        }
        expect(retryDelay(plan, last, chance, hint ?? undefined)).toBeNull()
        expect(retryDelay(plan, last + 1, chance)).toBeNull()
      }),
    )
  })

  it('stays within the ceiling of a provider, which grows up to its cap at the last', () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryDelay(PROVIDER_RETRY, attempt, 1 - 2 ** -53))
    expect(ceilings).toEqual([1_000, 3_107, 9_655, 30_000, 93_217, 289_647, 900_000])
    const capped: RetryPolicy = { kind: 'exponential', maxAttempts: 2_000, baseMs: 1_000, capMs: 900_000 }
    expect(retryDelay(capped, 1_999, 1 - 2 ** -53)).toBe(900_000)
    expect(retryDelay(PROVIDER_RETRY, 7, 0)).toBe(0)
  })

  it('follows the longer hint of a provider, for a day at most', () => {
    expect(retryDelay(PROVIDER_RETRY, 1, 0.5, 120_000)).toBe(120_000)
    expect(retryDelay(PROVIDER_RETRY, 7, 0.5, 10)).toBe(450_000)
    expect(retryDelay(PROVIDER_RETRY, 1, 0.5, Number.MAX_SAFE_INTEGER)).toBe(LONGEST_HINT_MS)
  })

  it('spreads a schedule by its share, and keeps a hint between the delay and twice the delay', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        random,
        fc.integer({ min: 0, max: 10 ** 9 }),
        (n, chance, hint) => {
          const base = WEBHOOK_RETRY.kind === 'schedule' ? (WEBHOOK_RETRY.delaysMs[n - 1] ?? 0) : 0
          const plain = retryDelay(WEBHOOK_RETRY, n, chance) ?? Number.NaN
          expect(plain).toBeGreaterThanOrEqual(Math.floor(base * 0.8))
          expect(plain).toBeLessThanOrEqual(Math.ceil(base * 1.2))
          const hinted = retryDelay(WEBHOOK_RETRY, n, chance, hint) ?? Number.NaN
          expect(hinted).toBeGreaterThanOrEqual(plain)
          expect(hinted).toBeLessThanOrEqual(2 * base)
        },
      ),
    )
  })

  it('has the schedule that is documented for webhooks', () => {
    expect(maxAttempts(WEBHOOK_RETRY)).toBe(8)
    const minutes = [1, 2, 3, 4, 5, 6, 7].map((n) => (retryDelay(WEBHOOK_RETRY, n, 0.5) ?? 0) / 60_000)
    expect(minutes).toEqual([5 / 60, 5, 30, 120, 300, 600, 600])
  })
})
