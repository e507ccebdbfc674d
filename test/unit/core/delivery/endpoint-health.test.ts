import { expect, it } from 'vitest'
import {
  DISABLED_AFTER_MS,
  decideEndpoint,
  type EndpointAttempt,
  type EndpointHealth,
  endpointEvent,
  endpointEventId,
  isEndpointEvent,
  NEW_HEALTH,
} from '../../../../src/core/delivery/endpoint-health.ts'

const NOW = Date.UTC(2026, 10, 21)
const failure = (attempt: number, last = false): EndpointAttempt => ({
  attempt: { attempt, succeeded: false },
  next: { kind: last ? 'end' : 'retry' },
})
const URL = 'https://example.com/hook'
const judge = (health: EndpointHealth, attempt: EndpointAttempt, at: number) =>
  decideEndpoint(health, attempt, at, URL)
const success: EndpointAttempt = { attempt: { attempt: 9, succeeded: true }, next: { kind: 'end' } }

it('fails from the first failure on, and says so at the fourth in a row on one event', () => {
  let { health } = judge(NEW_HEALTH, failure(1), NOW)
  expect(health).toEqual({ failingSince: NOW, failingPublished: false, sequence: 0 })
  for (const attempt of [2, 3]) {
    const verdict = judge(health, failure(attempt), NOW + attempt)
    expect(verdict).toEqual({ health, disable: null, eventType: null })
    health = verdict.health
  }
  const fourth = judge(health, failure(4), NOW + 4)
  expect(fourth).toEqual({
    health: { failingSince: NOW, failingPublished: true, sequence: 1 },
    disable: null,
    eventType: 'webhook.failing',
  })
  expect(judge(fourth.health, failure(5), NOW + 5).eventType).toBeNull()
  expect(judge(fourth.health, success, NOW + 6)).toEqual({
    health: { failingSince: null, failingPublished: false, sequence: 1 },
    disable: null,
    eventType: null,
  })
})

it('disables after five days when a delivery is given up, not before, and not at an attempt between', () => {
  const health = { failingSince: NOW, failingPublished: true, sequence: 1 }
  const at = (ms: number, last: boolean): unknown => judge(health, failure(8, last), NOW + ms).disable
  expect(at(DISABLED_AFTER_MS - 1, true)).toBeNull()
  expect(at(DISABLED_AFTER_MS, false)).toBeNull()
  expect(at(DISABLED_AFTER_MS, true)).toBe('failing')
  expect(judge(NEW_HEALTH, failure(8, true), NOW).disable).toBeNull()
})

it('disables at once what says that it is gone', () => {
  const verdict = judge(NEW_HEALTH, { ...failure(1, true), disable: 'gone' }, NOW)
  expect(verdict).toEqual({
    health: { failingSince: NOW, failingPublished: true, sequence: 1 },
    disable: 'gone',
    eventType: 'webhook.disabled',
  })
})

it('does not count what was no request, or our own fault', () => {
  const health = { failingSince: NOW, failingPublished: false, sequence: 0 }
  const verdict = { health, disable: null, eventType: null }
  expect(judge(health, { next: { kind: 'end' } }, NOW + DISABLED_AFTER_MS)).toEqual(verdict)
  const ours = { ...failure(8, true), ownFault: true } as const
  expect(judge(health, ours, NOW + DISABLED_AFTER_MS)).toEqual(verdict)
})

it('does not count what went to another address', () => {
  const health = { failingSince: NOW, failingPublished: false, sequence: 0 }
  const gone: EndpointAttempt = { ...failure(8, true), disable: 'gone' }
  for (const one of [gone, failure(8, true), success]) {
    const verdict = judge(health, { ...one, url: 'https://example.com/old' }, NOW + DISABLED_AFTER_MS)
    expect(verdict).toEqual({ health, disable: null, eventType: null })
  }
  expect(judge(health, { ...gone, url: URL }, NOW).disable).toBe('gone')
})

it('tells of an endpoint without its address, under an id that only such events have', () => {
  const endpoint = { id: 'wh_a-b_c', organizationId: 'org_a', url: 'https://example.com/secret' }
  const event = endpointEvent(endpoint, judge(NEW_HEALTH, failure(4), NOW), NOW)
  expect(event).toEqual({
    event: 'webhook.failing',
    data: {
      id: 'wh_a-b_c',
      status: 'active',
      reason: null,
      failingSince: '2026-11-21T00:00:00.000Z',
      timestamp: '2026-11-21T00:00:00.000Z',
      sequence: 1,
      organizationId: 'org_a',
    },
  })
  if (event === null) throw new Error('an event was expected')
  expect(endpointEventId(event)).toBe('evt_wh_a-b_c_1')
  expect([isEndpointEvent(event), isEndpointEvent({ event: 'notification.failed' })]).toEqual([true, false])
  expect(endpointEvent(endpoint, judge(NEW_HEALTH, success, NOW), NOW)).toBeNull()
})
