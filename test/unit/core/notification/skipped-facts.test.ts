import { describe, expect, it } from 'vitest'
import { admittedOf, countedOf } from '../../../../src/core/accept/admit.ts'
import type { Fact, FactType } from '../../../../src/core/notification/facts.ts'
import {
  type FactState,
  recordFacts as recordFactsOf,
} from '../../../../src/core/notification/record-facts.ts'
import { initialFold } from '../../../../src/core/notification/status.ts'

const recordFacts = (state: FactState, facts: readonly Fact[], origin: 'engine' | 'receipt') =>
  recordFactsOf(state, facts, origin, 'ada@example.com')

const m1 = (type: FactType): Fact => ({ type, provider: 'p', providerMessageId: 'm1' })

const accepted = (): FactState => ({
  status: 'queued',
  fold: initialFold('queued'),
  sequence: 1,
  published: 0,
  provider: null,
  providerMessageId: null,
  error: null,
})

describe('a skipped notification', () => {
  const skipped: Fact = {
    type: 'skipped',
    code: 'unsubscribed',
    message: 'Off for this category.',
    decidedBy: 'recipient_category',
  }

  it('has a reason and the preference that decided, and publishes one event', () => {
    const { state, events } = recordFacts(accepted(), [skipped, skipped], 'engine')
    expect(state.status).toBe('skipped')
    expect(state.error).toEqual({
      code: 'unsubscribed',
      message: 'Off for this category.',
      decidedBy: 'recipient_category',
    })
    expect(events.map(({ eventType }) => eventType)).toEqual(['notification.skipped', null])
  })

  it('keeps the reason whatever else is reported, until a provider accepts it', () => {
    const { state } = recordFacts(accepted(), [skipped], 'engine')
    const reported = recordFacts(state, [{ type: 'complained', provider: 'p' }], 'receipt').state
    expect(reported).toMatchObject({ status: 'skipped', error: { code: 'unsubscribed' } })
    expect(recordFacts(reported, [m1('sent')], 'receipt').state).toMatchObject({
      status: 'sent',
      error: null,
    })
  })
})

describe('a report about another address', () => {
  const bounce: Fact = { ...m1('bounced'), code: 'invalid_recipient', suppress: 'hard_bounce' }
  const sent = () => recordFacts(accepted(), [m1('sent')], 'engine').state

  it('is logged and changes no status', () => {
    const copy = { ...bounce, address: 'copy@example.com' }
    const { state, events } = recordFacts(sent(), [copy], 'receipt')
    expect(state.status).toBe('sent')
    expect(events).toMatchObject([{ eventType: null, fact: { ...copy, type: 'reported' } }])
  })

  it('is an ordinary one if the address is the recipient, however it is written', () => {
    const { state, events } = recordFacts(sent(), [{ ...bounce, address: ' Ada@Example.com ' }], 'receipt')
    expect(state.status).toBe('failed')
    expect(events).toMatchObject([{ eventType: 'notification.failed' }])
  })

  it('is compared with the recipient in Unicode and in punycode', () => {
    const facts = [{ ...bounce, address: 'ADA@xn--bcher-kva.example' }]
    const statusTo = (to: string) => recordFactsOf(sent(), facts, 'receipt', to).state.status
    expect([statusTo('ada@bücher.example'), statusTo('bob@bücher.example')]).toEqual(['failed', 'sent'])
  })
})

describe('a quota', () => {
  const [yes, no, three] = [{}, { addressees: 0 }, { addressees: 3 }]
  const of = (groupId: string) => ({ groupId })

  it.each([
    [[], 0, 0, 0],
    [[yes, yes], 1, 1, 1],
    [[yes, yes], 5, 2, 2],
    [[no, no], 0, 2, 0],
    [[no, yes, no], 0, 1, 0],
    [[yes, no, yes, no], 1, 2, 1],
    [[yes, no, yes, no], 2, 4, 2],
    [[of('a'), of('a'), of('a')], 2, 0, 0],
    [[of('a'), of('a'), of('a')], 3, 3, 3],
    [[yes, of('a'), of('a'), yes], 2, 1, 1],
    [[of('a'), of('a'), of('b'), of('b')], 3, 2, 2],
    [[of('a'), { ...of('a'), ...no }, of('a')], 1, 0, 0],
    [[three], 2, 0, 0],
    [[yes, three, yes], 3, 1, 1],
    [[yes, three, yes], 4, 2, 4],
    [[three, { ...of('a'), ...three }, of('a')], 6, 1, 3],
  ])('admits of %j with %i left: %i, and counts %i', (notifications, left, admitted, counted) => {
    expect(admittedOf({ notifications }, left)).toBe(admitted)
    expect(countedOf(notifications, admitted)).toBe(counted)
  })
})
