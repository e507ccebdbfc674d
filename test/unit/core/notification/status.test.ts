import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cancellation } from '../../../../src/core/notification/cancellation.ts'
import type { Fact, FactType } from '../../../../src/core/notification/facts.ts'
import {
  type FactState,
  recordFacts as recordFactsOf,
} from '../../../../src/core/notification/record-facts.ts'
import { foldFact, initialFold, statusOf } from '../../../../src/core/notification/status.ts'

const RECEIPTS = [
  'sent',
  'deferred',
  'undelivered',
  'delivered',
  'bounced',
  'opened',
  'clicked',
  'complained',
  'unsubscribed',
] as const satisfies readonly FactType[]

/** Facts of two hand-overs, or of one that is not named, and our own of one round. */
const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({
    type: fc.constantFrom<FactType>(...RECEIPTS),
    provider: fc.constant('p'),
    providerMessageId: fc.constantFrom('m1', 'm2', undefined),
  }),
  fc.record({
    type: fc.constantFrom<FactType>('attempt_failed', 'attempt_ambiguous', 'failed', 'cancelled', 'skipped'),
    attempt: fc.integer({ min: 1, max: 3 }),
  }),
)

const fold = (facts: readonly Fact[]) =>
  facts.reduce((known, fact) => foldFact(known, fact), initialFold('queued'))
const statusAfter = (...facts: Fact[]) => statusOf(fold(facts))

const m1 = (type: FactType): Fact => ({ type, provider: 'p', providerMessageId: 'm1' })
const m2 = (type: FactType): Fact => ({ type, provider: 'p', providerMessageId: 'm2' })
const own = (type: FactType): Fact => ({ type, attempt: 1 })

const recordFacts = (state: FactState, facts: readonly Fact[], origin: 'engine' | 'receipt') =>
  recordFactsOf(state, facts, origin, 'ada@example.com')

const accepted = (status: 'queued' | 'scheduled' = 'queued'): FactState => ({
  status,
  fold: initialFold(status),
  sequence: 1,
  published: 0,
  provider: null,
  providerMessageId: null,
  error: null,
})

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  )
}

describe('the status fold', () => {
  it('does not depend on the order of the facts', () => {
    const shuffled = fc
      .array(anyFact, { maxLength: 12 })
      .chain((facts) =>
        fc.tuple(
          fc.constant(facts),
          fc.shuffledSubarray(facts, { minLength: facts.length, maxLength: facts.length }),
        ),
      )
    fc.assert(
      fc.property(shuffled, ([facts, other]) => {
        expect(fold(other)).toEqual(fold(facts))
      }),
    )
  })

  it('does not change by a fact that it knows', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { minLength: 1, maxLength: 12 }), fc.nat(), (facts, pick) => {
        const known = fold(facts)
        const again = facts[pick % facts.length]
        expect(again && foldFact(known, again)).toBe(known)
      }),
    )
  })

  it('gives the same status when facts are folded in groups', () => {
    // Recording a set in one commit or one by one is the same.
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 12 }), fc.nat({ max: 12 }), (facts, at) => {
        const whole = recordFacts(accepted(), facts, 'receipt').state
        const first = recordFacts(accepted(), facts.slice(0, at), 'receipt').state
        expect(recordFacts(first, facts.slice(at), 'receipt').state).toEqual(whole)
      }),
    )
  })

  it('only ever rises within one hand-over, from whatever side it is told', () => {
    const order = ['sent', 'undelivered', 'delivered', 'bounced', 'opened', 'clicked'] as const
    const shown = {
      sent: 'sent',
      undelivered: 'failed',
      delivered: 'delivered',
      bounced: 'failed',
      opened: 'opened',
      clicked: 'clicked',
    } as const
    for (const [low, first] of order.entries()) {
      for (const [high, second] of order.entries()) {
        const expected = shown[high > low ? second : first]
        expect(statusAfter(m1(first), m1(second)), `${first}, ${second}`).toBe(expected)
      }
    }
  })

  it('ends all 720 orders of six receipts in one state', () => {
    const six = (['sent', 'deferred', 'undelivered', 'delivered', 'bounced', 'opened'] as const).map(m1)
    const states = permutations(six).map((facts) => {
      const { state, events } = recordFacts(accepted(), facts, 'receipt')
      expect(new Set(events.map(({ eventType }) => eventType).filter((type) => type !== null))).toEqual(
        new Set([
          'notification.sent',
          'notification.deferred',
          'notification.failed',
          'notification.delivered',
          'notification.opened',
        ]),
      )
      return JSON.stringify({ ...state, fold: Object.entries(state.fold.handovers) })
    })
    expect(states).toHaveLength(720)
    expect(new Set(states).size).toBe(1)
  })

  it.each<[string, Fact[], string]>([
    ['delivered after undelivered wins', [m1('undelivered'), m1('delivered')], 'delivered'],
    ['sent after delivered is ignored', [m1('delivered'), m1('sent')], 'delivered'],
    ['a bounce outranks delivered in one hand-over', [m1('delivered'), m1('bounced')], 'failed'],
    ['… told the other way round', [m1('bounced'), m1('delivered')], 'failed'],
    ['opened stays when delivered comes later', [m1('opened'), m1('delivered')], 'opened'],
    ['deferred is still sent', [m1('deferred')], 'sent'],
    ['the best hand-over wins', [m1('bounced'), m2('delivered')], 'delivered'],
    ['… also when the other was only sent', [m1('bounced'), m2('sent')], 'sent'],
    ['… also when both failed', [m1('bounced'), m2('undelivered')], 'failed'],
    ['a refused hand-over beside a delivered one', [m1('delivered'), m2('undelivered')], 'delivered'],
    ['acceptance outranks cancelled', [own('cancelled'), m1('sent')], 'sent'],
    ['… told the other way round', [m1('sent'), own('cancelled')], 'sent'],
    ['acceptance outranks giving up', [own('failed'), m1('sent')], 'sent'],
    ['a receipt corrects an unknown delivery', [own('failed'), m1('delivered')], 'delivered'],
    ['a complaint changes no status', [m1('delivered'), m1('complained'), m1('unsubscribed')], 'delivered'],
    ['failing wins over cancelled', [own('cancelled'), own('failed')], 'failed'],
    ['acceptance outranks skipped', [own('skipped'), m1('sent')], 'sent'],
    ['… told the other way round', [m1('sent'), own('skipped')], 'sent'],
    ['failing wins over skipped', [own('failed'), own('skipped')], 'failed'],
    ['skipped ends what waits', [own('attempt_failed'), own('skipped')], 'skipped'],
    ['a failed attempt stays queued', [own('attempt_failed')], 'queued'],
    ['an ambiguous attempt stays queued', [own('attempt_ambiguous')], 'queued'],
  ])('%s', (_name, facts, expected) => {
    expect(statusAfter(...facts)).toBe(expected)
  })

  it('leaves scheduled by the first attempt', () => {
    const scheduled = initialFold('scheduled')
    expect(statusOf(scheduled)).toBe('scheduled')
    expect(statusOf(foldFact(scheduled, own('attempt_failed')))).toBe('queued')
    expect(statusOf(foldFact(scheduled, own('cancelled')))).toBe('cancelled')
  })

  it('tells hand-overs without a message id apart by their attempt', () => {
    const attempt = (number: number, type: FactType): Fact => ({ type, attempt: number, provider: 'p' })
    expect(statusAfter(attempt(1, 'sent'), attempt(1, 'bounced'))).toBe('failed')
    expect(statusAfter(attempt(1, 'bounced'), attempt(2, 'sent'))).toBe('sent')
  })
})

describe('a report that names no hand-over', () => {
  const vague = (type: FactType): Fact => ({ type, provider: 'p' })
  const sent1: Fact = { type: 'sent', provider: 'p', attempt: 1 }

  it.each<[string, Fact[], string]>([
    ['a bounce of the only hand-over', [m1('sent'), vague('bounced')], 'failed'],
    ['… delivered before', [m1('delivered'), vague('bounced')], 'failed'],
    ['… which has no message id', [sent1, vague('undelivered')], 'failed'],
    ['a delivery', [m1('sent'), vague('delivered')], 'delivered'],
    ['a lesser one', [m1('opened'), vague('delivered')], 'opened'],
    ['the one of two that is less known', [m1('delivered'), m2('sent'), vague('bounced')], 'delivered'],
    ['both are only sent', [m1('sent'), m2('sent'), vague('bounced')], 'sent'],
    ["another provider's", [m1('sent'), { type: 'bounced', provider: 'q' }], 'sent'],
    ['a provider whose name begins alike', [m1('sent'), { type: 'bounced', provider: 'p2' }], 'sent'],
    ['nobody handed anything over', [vague('delivered')], 'delivered'],
  ])('%s', (_name, facts, expected) => {
    for (const order of permutations(facts)) expect(statusAfter(...order)).toBe(expected)
  })

  it('speaks of the newest round that the provider has a hand-over of', () => {
    const bounced = recordFacts(accepted(), [m1('sent')], 'engine').state
    const failed = recordFacts(bounced, [vague('bounced')], 'receipt').state
    expect(failed.status).toBe('failed')
    const waiting = recordFacts(failed, [{ type: 'retried' }], 'engine').state
    expect(recordFacts(waiting, [vague('bounced')], 'receipt').state.status).toBe('queued')
    const again = recordFacts(waiting, [m2('sent')], 'engine').state
    expect(again.status).toBe('sent')
    expect(recordFacts(again, [vague('bounced')], 'receipt').state.status).toBe('failed')
  })
})

describe('a retry', () => {
  const failed = recordFacts(
    accepted(),
    [{ type: 'failed', attempt: 8, code: 'attempts_exhausted' }],
    'engine',
  ).state
  const bounced = recordFacts(
    recordFacts(accepted(), [m1('sent')], 'engine').state,
    [{ ...m1('bounced'), code: 'blocked_recipient' }],
    'receipt',
  ).state

  it.each([
    ['of one that was given up', failed],
    ['of one that bounced', bounced],
  ])('%s is queued again, without an error', (_name, state) => {
    const { state: retried } = recordFacts(state, [{ type: 'retried' }], 'engine')
    expect(retried).toMatchObject({ status: 'queued', error: null })
  })

  it('can fail again, and says so again', () => {
    const retried = recordFacts(failed, [{ type: 'retried' }], 'engine').state
    const { state, events } = recordFacts(
      retried,
      [{ type: 'failed', attempt: 9, code: 'expired' }],
      'engine',
    )
    expect(state).toMatchObject({ status: 'failed', error: { code: 'expired' } })
    expect(events.map(({ eventType }) => eventType)).toEqual(['notification.failed'])
  })

  it('can bounce again in its own hand-over', () => {
    const retried = recordFacts(bounced, [{ type: 'retried' }, m2('sent')], 'engine').state
    expect(retried.status).toBe('sent')
    const again = recordFacts(retried, [m2('bounced')], 'receipt').state
    expect(again.status).toBe('failed')
  })

  it('is not failed by a late bounce of the round before', () => {
    const sent = recordFacts(accepted(), [m1('sent'), { type: 'failed', code: 'expired' }], 'engine').state
    const retried = recordFacts(sent, [m1('bounced')], 'receipt').state
    const waiting = recordFacts(retried, [{ type: 'retried' }], 'engine').state
    expect(recordFacts(waiting, [m1('bounced')], 'receipt').state.status).toBe('queued')
  })

  it('keeps the best of an earlier round', () => {
    const retried = recordFacts(failed, [{ type: 'retried' }], 'engine').state
    expect(recordFacts(retried, [m1('delivered')], 'receipt').state.status).toBe('delivered')
  })
})

describe('recordFacts', () => {
  const announcedBy = (facts: readonly Fact[]) =>
    recordFacts(accepted(), facts, 'receipt').events.map(({ eventType }) => eventType)

  it('announces every type once, at its first recording', () => {
    expect(announcedBy([m1('sent'), m1('sent'), m2('sent')])).toEqual(['notification.sent', null, null])
    expect(announcedBy([m1('undelivered'), m1('bounced'), own('failed')])).toEqual([
      'notification.failed',
      null,
      null,
    ])
  })

  it('announces delivered also after opened', () => {
    expect(announcedBy([m1('opened'), m1('delivered')])).toEqual([
      'notification.opened',
      'notification.delivered',
    ])
  })

  it('only logs attempts, retries and what means nothing here', () => {
    expect(
      announcedBy([own('attempt_failed'), own('attempt_ambiguous'), own('retried'), m1('reported')]),
    ).toEqual([null, null, null, null])
  })

  it('only logs what a machine opened or clicked', () => {
    const byMachine = [
      { ...m1('opened'), machine: true },
      { ...m1('clicked'), machine: true },
    ]
    const { state, events } = recordFacts(accepted(), [m1('delivered'), ...byMachine], 'receipt')
    expect(state.status).toBe('delivered')
    expect(events.map(({ eventType }) => eventType)).toEqual(['notification.delivered', null, null])
    expect(recordFacts(state, [m1('opened')], 'receipt').events[0]?.eventType).toBe('notification.opened')
  })

  it('announces what changes no status', () => {
    const types = ['deferred', 'complained', 'unsubscribed', 'cancelled', 'skipped'] as const
    for (const type of types) expect(announcedBy([m1(type)])).toEqual([`notification.${type}`])
  })

  it('numbers events from 2 and gives each its status', () => {
    const { events } = recordFacts(accepted(), [m1('sent'), m1('delivered'), m1('bounced')], 'receipt')
    expect(events.map(({ sequence, status }) => [sequence, status])).toEqual([
      [2, 'sent'],
      [3, 'delivered'],
      [4, 'failed'],
    ])
  })

  it('names the provider that accepted last', () => {
    const first = recordFacts(accepted(), [m1('sent')], 'engine').state
    const last = recordFacts(first, [{ type: 'sent', provider: 'q', providerMessageId: 'x' }], 'engine').state
    expect(last).toMatchObject({ provider: 'q', providerMessageId: 'x' })
    const receipt = recordFacts(last, [m1('delivered')], 'receipt').state
    expect(receipt).toMatchObject({ provider: 'q', providerMessageId: 'x' })
  })

  it('has an error while the status is failed or skipped, or queued after a failed attempt, and at no other time', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 12 }), (facts) => {
        const { state } = recordFacts(accepted(), facts, 'receipt')
        const tried = facts.some(({ type }) => type === 'attempt_failed' || type === 'attempt_ambiguous')
        const waits = state.status === 'queued' && tried
        if (!facts.some(({ type }) => type === 'retried'))
          expect(state.error !== null).toBe(['failed', 'skipped'].includes(state.status) || waits)
      }),
    )
  })

  it('has an error after a cancellation only if an attempt may have gone', () => {
    const attempt: Fact = { ...own('attempt_ambiguous'), code: 'delivery_unknown', ambiguous: true }
    const errorAfter = (...facts: Fact[]) =>
      recordFacts(accepted(), [...facts, cancellation(facts)], 'engine').state.error
    expect(errorAfter()).toBeNull()
    expect(errorAfter({ ...own('attempt_failed'), code: 'provider_unavailable' })).toBeNull()
    expect(errorAfter(attempt, own('failed'), { type: 'retried' })).toBeNull()
    expect(errorAfter(attempt, own('attempt_failed'))).toEqual({
      code: 'delivery_unknown',
      message: 'It was cancelled. An earlier attempt may have reached the recipient.',
    })
    const { state } = recordFacts(accepted(), [attempt, cancellation([attempt])], 'engine')
    expect(recordFacts(state, [own('complained')], 'receipt').state.error).toEqual(state.error)
    expect(recordFacts(state, [m1('delivered')], 'receipt').state).toMatchObject({
      status: 'delivered',
      error: null,
    })
  })

  it('names the failure that ended it, not the attempt before: a bounce without a reason of its own, too', () => {
    const attempt: Fact = { ...own('attempt_failed'), code: 'provider_unavailable', message: 'Refused.' }
    const { state } = recordFacts(accepted(), [attempt], 'engine')
    expect(state.error).toEqual({ code: 'provider_unavailable', message: 'Refused.' })
    const stopped: Fact = { ...own('attempt_failed'), message: 'Not asked.', notSent: true }
    expect(recordFacts(state, [stopped], 'engine').state.error).toEqual(state.error)
    expect(recordFacts(state, [m1('bounced')], 'receipt').state.error?.code).toBe('provider_error')
    expect(recordFacts(state, [m1('sent')], 'engine').state.error).toBeNull()
  })

  it('keeps the error of the fact that decided, whatever lesser ones say later', () => {
    const bounce: Fact = { ...m1('bounced'), code: 'blocked_recipient', message: 'No such user.' }
    const lesser: Fact[] = [
      { ...m1('undelivered'), code: 'provider_error', message: 'Later.' },
      { ...m1('unsubscribed'), code: 'unsubscribed', message: 'Opted out.' },
    ]
    const { state } = recordFacts(accepted(), [bounce, ...lesser], 'receipt')
    expect(state.error).toEqual({ code: 'blocked_recipient', message: 'No such user.' })
  })

  it('does not touch what it is given', () => {
    const state = Object.freeze({ ...accepted(), fold: Object.freeze(initialFold('queued')) })
    recordFacts(state, Object.freeze([m1('sent'), own('failed')]), 'engine')
    expect(state.sequence).toBe(1)
  })
})
