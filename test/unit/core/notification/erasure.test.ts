import { expect, test } from 'vitest'
import { ERASED_ADDRESS, erasedFact } from '../../../../src/core/notification/erased-fact.ts'
import {
  concerns,
  erasedAttempt,
  erasedContent,
  erasedPayload,
  erasedState,
} from '../../../../src/core/notification/erasure.ts'
import { eventPayload } from '../../../../src/core/notification/event-payload.ts'
import type { Fact } from '../../../../src/core/notification/facts.ts'
import { recordFacts } from '../../../../src/core/notification/record-facts.ts'
import { contentRemoved } from '../../../../src/core/notification/sensitive.ts'
import { initialFold } from '../../../../src/core/notification/status.ts'

const MARKER = 'ada-4711'

const failed: Fact = {
  type: 'failed',
  attempt: 2,
  provider: 'ses',
  providerMessageId: MARKER,
  code: 'device_unregistered',
  message: MARKER,
  providerCode: MARKER,
  durationMs: 12,
  occurredAt: 1_767_225_600_000,
  suppress: 'hard_bounce',
  address: MARKER,
}
const kept = { type: 'failed', attempt: 2, provider: 'ses', code: 'device_unregistered', durationMs: 12 }

const accepted = {
  status: 'queued',
  fold: initialFold('queued'),
  sequence: 1,
  published: 0,
  provider: null,
  providerMessageId: null,
  error: null,
} as const

test('a fact keeps what names no person', () => {
  expect(erasedFact(failed)).toEqual({ ...kept, occurredAt: 1_767_225_600_000 })
})

test('later facts of an erased notification name no person, and count as before', () => {
  const sent: Fact = { type: 'sent', attempt: 1, provider: 'ses', providerMessageId: MARKER }
  const before = recordFacts(accepted, [sent], 'engine', MARKER).state
  const erased = erasedState(before)
  expect(erased).toMatchObject({ status: 'sent', sequence: 2, provider: 'ses', providerMessageId: null })
  const report: Fact = { type: 'delivered', provider: 'ses', providerMessageId: MARKER, message: MARKER }
  const { state, events } = recordFacts(erased, [report, report], 'receipt', ERASED_ADDRESS)
  expect(state).toMatchObject({ status: 'delivered', sequence: 4 })
  expect(events.map(({ eventType }) => eventType)).toEqual(['notification.delivered', null])
  expect(JSON.stringify([erased, state, events])).not.toContain(MARKER)
})

test('two hand-overs stay two', () => {
  const facts: Fact[] = ['m-1', 'm-2'].map((providerMessageId) => ({
    type: 'sent',
    provider: 'ses',
    providerMessageId,
  }))
  const { fold } = erasedState(recordFacts(accepted, facts, 'engine', MARKER).state)
  expect(Object.keys(fold.handovers)).toHaveLength(2)
})

test('the body of an event keeps its order, time, status, category and group', () => {
  const about = {
    id: 'notif_1',
    organizationId: 'org_1',
    channel: 'push',
    to: MARKER,
    recipient: MARKER,
    metadata: { [MARKER]: MARKER },
    category: 'news',
    groupId: 'group_1',
  }
  const event = { fact: failed, sequence: 3, status: 'failed', eventType: 'notification.failed' } as const
  const payload = JSON.stringify(eventPayload(about, event, 1_767_225_600_000))
  const erased = erasedPayload(payload)
  expect(erased).not.toContain(MARKER)
  expect(JSON.parse(erased)).toEqual({
    event: 'notification.failed',
    data: {
      id: 'notif_1',
      channel: 'push',
      to: ERASED_ADDRESS,
      status: 'failed',
      timestamp: '2026-01-01T00:00:00.000Z',
      sequence: 3,
      organizationId: 'org_1',
      category: 'news',
      groupId: 'group_1',
      error: {
        code: 'device_unregistered',
        message: expect.any(String),
        since: '2026-01-01T00:00:00.000Z',
      },
    },
  })
  expect(erasedPayload(erased)).toBe(erased)
})

test('the error keeps its code and what decided', () => {
  const error = {
    code: 'unsubscribed',
    message: MARKER,
    providerCode: MARKER,
    decidedBy: 'recipient',
  } as const
  expect(erasedState({ ...accepted, error }).error).toEqual({
    code: 'unsubscribed',
    message: expect.not.stringContaining(MARKER),
    decidedBy: 'recipient',
  })
})

test('a content keeps its template, and says since when it is erased', () => {
  const content = erasedContent({ body: MARKER, subject: MARKER, locale: 'de', parts: { cc: [MARKER] } }, 1)
  expect(content).toEqual({ removed: true, body: '', erasedAt: 1 })
  expect(contentRemoved(content)).toMatchObject({ code: 'content_removed', details: { reason: 'erasure' } })
})

test('an attempt loses what the endpoint answered', () => {
  const attempt = { attempt: 1, status: 500, response: MARKER, durationMs: 5, succeeded: false }
  expect(erasedAttempt(attempt)).toEqual({ ...attempt, response: '' })
})

test.each<readonly [Fact, boolean]>([
  [{ type: 'bounced', address: 'Ada@Example.com' }, true],
  [{ type: 'sent', message: 'Refused: ADA@example.com' }, true],
  [{ type: 'sent', providerCode: '550 <ada@example.com>' }, true],
  [{ type: 'sent', message: 'Refused: bob@example.com' }, false],
  [{ type: 'sent' }, false],
])('a fact names an address: %o', (fact, expected) => {
  expect(concerns(fact, ['ada@example.com'])).toBe(expected)
})
