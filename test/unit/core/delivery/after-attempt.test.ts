import { describe, expect, it } from 'vitest'
import { type AttemptContext, DEFAULT_PAUSE_MS, decide } from '../../../../src/core/delivery/after-attempt.ts'
import { maxOutageAttempts, type RetryPolicy } from '../../../../src/core/delivery/retry-delay.ts'
import type { ErrorCode } from '../../../../src/core/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../../src/core/notification/outcome.ts'
import { kindOf } from '../../../support/kinds.ts'

const policy: RetryPolicy = { kind: 'exponential', maxAttempts: 3, baseMs: 1_000, capMs: 60_000 }
const context: AttemptContext = {
  suppressesRefused: true,
  attempt: 1,
  outages: 0,
  provider: 'a',
  hasNextProvider: false,
  policy,
  onAmbiguous: 'retry',
  expiresInMs: null,
  random: 0.5,
  durationMs: 7,
}
const about = { attempt: 1, provider: 'a', durationMs: 7 }
const rejected = (scope: FaultScope): Outcome => ({ kind: 'rejected', code: 'provider_error', scope })
const retry = (scope: FaultScope, retryAfterMs?: number): Outcome => ({
  kind: 'retry',
  code: 'provider_unavailable',
  scope,
  retryAfterMs,
})
const ambiguous: Outcome = { kind: 'ambiguous', reason: 'The connection broke.' }

/** The decision in short: the facts' types (with the last code), then what is next, then the pause. */
function short(outcome: Outcome, change: Partial<AttemptContext>): string {
  const { facts, next, provider, pauseMs } = decide(outcome, { ...context, ...change })
  const after =
    next.kind === 'end' ? 'end' : next.failOver ? `fail over ${next.delayMs}` : `retry ${next.delayMs}`
  const types = facts.map(({ type, code }) => (type === 'failed' ? `failed(${code})` : type))
  return `${types.join(' ')} | ${after} | ${provider === 'faulty' ? (pauseMs ?? 'faulty') : '-'}`
}

const LAST = { attempt: 3 }
/** Faults of the provider use no message up, but not for ever. */
const OUTAGE_OVER: Partial<AttemptContext> = { attempt: 50, outages: maxOutageAttempts(policy) - 1 }
/** Twenty faults of the provider came before. */
const AFTER_OUTAGE: Partial<AttemptContext> = { attempt: 21, outages: 20 }
const NEXT = { hasNextProvider: true }

describe('decide', () => {
  it('keeps since when a device token has been dead', () => {
    const dead: Outcome = { kind: 'rejected', code: 'device_unregistered', scope: 'recipient', since: 1_000 }
    expect(decide(dead, context).facts).toEqual([
      { type: 'failed', ...about, code: 'device_unregistered', occurredAt: 1_000 },
    ])
  })

  it.each<[ErrorCode, FaultScope, string, string | undefined]>([
    ['unsubscribed', 'recipient', 'email', 'unsubscribe'],
    ['unsubscribed', 'recipient', 'sms', 'stop'],
    ['unsubscribed', 'recipient', 'push', 'unsubscribe'],
    ['invalid_recipient', 'recipient', 'email', 'hard_bounce'],
    ['invalid_recipient', 'recipient', 'sms', undefined],
    ['invalid_recipient', 'recipient', 'slack', undefined],
    ['invalid_recipient', 'message', 'email', undefined],
    ['unsubscribed', 'message', 'sms', undefined],
    ['unsubscribed', 'account', 'sms', undefined],
    ['recipient_unreachable', 'recipient', 'email', undefined],
    ['blocked_recipient', 'recipient', 'email', undefined],
    ['device_unregistered', 'recipient', 'push', undefined],
  ])('suppresses after %s (%s) by %s: %s', (code, scope, channel, suppress) => {
    const { facts } = decide(
      { kind: 'rejected', code, scope },
      {
        ...context,
        suppressesRefused: kindOf(channel).suppressesRefused === true,
        stops: kindOf(channel).stops === true,
      },
    )
    expect(facts.map((fact) => fact.suppress)).toEqual([suppress])
  })

  it('suppresses nobody over what may pass', () => {
    for (const kind of ['retry', 'ambiguous'] as const) {
      const outcome = { kind, code: 'invalid_recipient', scope: 'recipient', reason: 'No.' } as Outcome
      const { facts } = decide(outcome, { ...context, ...LAST })
      expect(facts.filter((fact) => fact.suppress !== undefined)).toEqual([])
    }
  })

  it.each<[string, Outcome, Partial<AttemptContext>, string]>([
    ['accepted', { kind: 'accepted' }, {}, 'sent | end | -'],
    ['accepted as delivered', { kind: 'accepted', status: 'delivered' }, {}, 'sent delivered | end | -'],
    ['accepted at the last attempt', { kind: 'accepted' }, LAST, 'sent | end | -'],
    ['accepted after its expiry', { kind: 'accepted' }, { expiresInMs: -5 }, 'sent | end | -'],

    // Faults of the recipient and of the message: final, no fail-over, whatever else there is.
    ...(['recipient', 'message'] as const).flatMap(
      (scope): [string, Outcome, Partial<AttemptContext>, string][] => [
        [`rejected: ${scope}`, rejected(scope), {}, 'failed(provider_error) | end | -'],
        [`rejected: ${scope}, another provider`, rejected(scope), NEXT, 'failed(provider_error) | end | -'],
        [`rejected: ${scope}, last`, rejected(scope), LAST, 'failed(provider_error) | end | -'],
        [`retry: ${scope}`, retry(scope), {}, 'attempt_failed | retry 500 | -'],
        [`retry: ${scope}, hint`, retry(scope, 9_000), {}, 'attempt_failed | retry 9000 | -'],
        [`retry: ${scope}, another provider`, retry(scope), NEXT, 'attempt_failed | retry 500 | -'],
        [`retry: ${scope}, last`, retry(scope), LAST, 'attempt_failed failed(attempts_exhausted) | end | -'],
        [
          `retry: ${scope}, expires before`,
          retry(scope),
          { expiresInMs: 500 },
          'attempt_failed failed(expired) | end | -',
        ],
        [
          `retry: ${scope}, expires after`,
          retry(scope),
          { expiresInMs: 501 },
          'attempt_failed | retry 500 | -',
        ],
      ],
    ),

    // Faults of the account and the provider: the provider rests; another one is asked at once.
    ...(['account', 'provider'] as const).flatMap(
      (scope): [string, Outcome, Partial<AttemptContext>, string][] => [
        [`rejected: ${scope}`, rejected(scope), {}, `attempt_failed | retry 500 | ${DEFAULT_PAUSE_MS}`],
        [
          `rejected: ${scope}, another provider`,
          rejected(scope),
          NEXT,
          `attempt_failed | fail over 0 | ${DEFAULT_PAUSE_MS}`,
        ],
        [
          `rejected: ${scope}, another provider, last`,
          rejected(scope),
          { ...NEXT, ...OUTAGE_OVER },
          `attempt_failed failed(attempts_exhausted) | end | ${DEFAULT_PAUSE_MS}`,
        ],
        [`retry: ${scope}`, retry(scope), {}, `attempt_failed | retry 500 | faulty`],
        [`retry: ${scope}, hint`, retry(scope, 9_000), {}, 'attempt_failed | retry 9000 | 9000'],
        [
          `retry: ${scope}, another provider`,
          retry(scope, 9_000),
          NEXT,
          'attempt_failed | fail over 0 | 9000',
        ],
        [
          `retry: ${scope}, another provider, expires soon`,
          retry(scope, 9_000),
          { ...NEXT, expiresInMs: 1 },
          'attempt_failed | fail over 0 | 9000',
        ],
        [
          `retry: ${scope}, when the message has no attempt of its own left`,
          retry(scope),
          { attempt: 4, outages: 0 },
          `attempt_failed | retry 500 | faulty`,
        ],
        [
          `retry: ${scope}, in a long outage`,
          retry(scope),
          AFTER_OUTAGE,
          `attempt_failed | retry 30000 | faulty`,
        ],
        [
          `retry: ${scope}, the last of an outage`,
          retry(scope),
          OUTAGE_OVER,
          `attempt_failed failed(attempts_exhausted) | end | faulty`,
        ],
        [
          `retry: ${scope}, expires before the hint`,
          retry(scope, 9_000),
          { expiresInMs: 5_000 },
          'attempt_failed failed(expired) | end | 9000',
        ],
      ],
    ),

    // An outage leaves a message its own attempts, and the delays between them.
    ['retry: recipient, after an outage', retry('recipient'), AFTER_OUTAGE, 'attempt_failed | retry 500 | -'],
    [
      'retry: recipient, the last of its own after an outage',
      retry('recipient'),
      { attempt: 23, outages: 20 },
      'attempt_failed failed(attempts_exhausted) | end | -',
    ],
    ['ambiguous, after an outage', ambiguous, AFTER_OUTAGE, 'attempt_ambiguous | retry 500 | -'],

    // Nobody knows: the policy of the channel decides; never another provider, which could not deduplicate.
    ['ambiguous', ambiguous, {}, 'attempt_ambiguous | retry 500 | -'],
    ['ambiguous, another provider', ambiguous, NEXT, 'attempt_ambiguous | retry 500 | -'],
    ['ambiguous, last', ambiguous, LAST, 'attempt_ambiguous failed(delivery_unknown) | end | -'],
    [
      'ambiguous, expires before',
      ambiguous,
      { expiresInMs: 1 },
      'attempt_ambiguous failed(expired) | end | -',
    ],
    ['ambiguous, no retry wanted', ambiguous, { onAmbiguous: 'fail' }, 'failed(delivery_unknown) | end | -'],
  ])('%s', (_name, outcome, change, expected) => {
    expect(short(outcome, change)).toBe(expected)
  })

  it('puts attempt, provider, duration and the message id on what it records', () => {
    const outcome: Outcome = { kind: 'accepted', providerMessageId: 'm', status: 'delivered' }
    expect(decide(outcome, context).facts).toEqual([
      { type: 'sent', ...about, providerMessageId: 'm' },
      { type: 'delivered', ...about, providerMessageId: 'm' },
    ])
  })

  it('keeps the code and the raw code of a refusal', () => {
    const outcome: Outcome = {
      kind: 'rejected',
      scope: 'recipient',
      code: 'blocked_recipient',
      message: 'No such user.',
      providerCode: '550 5.1.1',
    }
    const { kind, scope, ...said } = outcome
    expect(decide(outcome, context).facts).toEqual([{ type: 'failed', ...about, ...said }])
  })

  it('marks what may have reached the provider', () => {
    for (const onAmbiguous of ['retry', 'fail'] as const) {
      const { facts } = decide(ambiguous, { ...context, onAmbiguous, attempt: 3 })
      expect(facts.length).toBeGreaterThan(0)
      for (const fact of facts) expect(fact).toMatchObject({ ambiguous: true, code: 'delivery_unknown' })
    }
  })

  it.each([
    { kind: 'rejected', code: 'invalid_sender', scope: 'account' },
    { kind: 'retry', code: 'invalid_sender', scope: 'account', retryAfterMs: 500 },
  ] satisfies Outcome[])(
    'pauses no provider for all that refuses the sender of one message: $kind',
    (outcome) => {
      const own = { namesSender: true }
      expect(short(outcome, own)).toBe('attempt_failed | retry 500 | -')
      expect(short(outcome, { ...own, ...NEXT })).toBe('attempt_failed | fail over 0 | -')
      expect(short(outcome, {})).toMatch(/^attempt_failed \| retry 500 \| \d+$/)
      expect(short({ ...outcome, code: 'provider_suspended' }, own)).toMatch(/\| \d+$/)
      const { next } = decide(outcome, { ...context, ...own })
      expect(next).toMatchObject({ outage: true })
    },
  )

  it('counts apart what the provider is to blame for, and only that', () => {
    const outage = (outcome: Outcome): boolean | null => {
      const { next } = decide(outcome, context)
      return next.kind === 'retry' ? next.outage : null
    }
    expect([retry('provider'), retry('account'), rejected('account')].map(outage)).toEqual([true, true, true])
    expect([retry('recipient'), retry('message'), ambiguous].map(outage)).toEqual([false, false, false])
  })

  it('learns nothing about a provider that gave no answer', () => {
    expect(decide(ambiguous, context).provider).toBe('unknown')
    expect(decide({ kind: 'accepted' }, context).provider).toBe('works')
    expect(decide(retry('recipient'), context).provider).toBe('works')
  })

  it('says what the last attempt said when it gives up', () => {
    const last = decide({ ...retry('recipient'), message: 'Busy.' } as Outcome, { ...context, ...LAST })
    expect(last.facts.at(-1)?.message).toBe('Gave up after 3 attempts; the last: provider_unavailable: Busy.')
  })
})
