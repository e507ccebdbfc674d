import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Call } from '../../support/http-client.ts'
import { succeeded } from '../../support/operation.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
let auth: { authorization: string }
let operator: { authorization: string }

const HOUR = 3_600_000
const failing = new Set(['full@example.com', 'gone@example.com'])

beforeAll(async () => {
  host = await startHost({
    channel: {
      name: 'picky',
      async send({ to }) {
        if (!failing.has(to)) return { kind: 'accepted', providerMessageId: to }
        const code = to.startsWith('full') ? 'mailbox_full' : 'recipient_unreachable'
        return { kind: 'rejected', code, scope: 'recipient' }
      },
    },
  })
  auth = await host.key()
  operator = await host.operatorKey('Read Only')
  await host.notifier.organizations.create({ id: 'org_other', name: 'Other' })
})
afterAll(() => host.close())

const api = (options: Call) => host.call({ ...options, headers: { ...auth, ...options.headers } })

const operation = async (name: string, options: Call) => (await succeeded(api, name, options)).json ?? {}

async function send(to: string): Promise<void> {
  const { id } = await host.notifier.send({ channel: 'email', to, body: 'Hi' })
  await host.notifier.waitFor(id)
}

describe('statistics', () => {
  const path = '/v1/statistics'

  it('are empty at first: 24 hours, the last of which has not ended', async () => {
    const { at, spans, ...rest } = await operation('getStatistics', { path })
    const starts = (spans as { from: string }[]).map(({ from }) => Date.parse(from))
    const last = starts.at(-1) ?? 0
    expect(starts).toEqual(Array.from({ length: 24 }, (_, n) => last - (23 - n) * HOUR))
    expect(Date.parse(String(at)) - last).toBeGreaterThanOrEqual(0)
    expect(Date.parse(String(at)) - last).toBeLessThan(HOUR)
    const none = { accepted: 0, sent: 0, delivered: 0, failed: 0, bounced: 0, exact: true }
    const iso = (time: number): string => new Date(time).toISOString()
    expect(spans).toEqual(starts.map((from) => ({ from: iso(from), until: iso(from + HOUR), ...none })))
    const waiting = { due: 0, scheduled: 0, retrying: 0, running: 0, oldestDueMs: null }
    expect(rest).toEqual({
      period: '24h',
      successRate: null,
      failures: { groups: [], total: 0, exact: true },
      providers: [],
      waiting,
      most: 10_000,
    })
  })

  it('count what was sent and failed, also in hours that have ended', async () => {
    const sendAt = new Date(host.clock.now() + 48 * HOUR)
    for (const to of ['ada@example.com', ...failing, 'full@example.com']) {
      await send(to)
      // The last of two errors in one millisecond is either.
      host.clock.advance(1)
    }
    await host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Later', sendAt })
    const first = await operation('getStatistics', { path })
    const sum = (answer: Record<string, unknown>, name: string) =>
      (answer.spans as Record<string, number>[]).reduce((total, span) => total + (span[name] ?? 0), 0)
    for (const [name, count] of Object.entries({ accepted: 5, sent: 1, delivered: 0, failed: 3 }))
      expect(sum(first, name)).toBe(count)
    expect(first).toMatchObject({
      successRate: 0.25,
      providers: [
        {
          name: 'picky',
          channel: 'email',
          sent: 1,
          failed: 3,
          exact: true,
          failingSince: expect.any(String),
          pausedUntil: null,
          lastError: { code: 'mailbox_full', at: expect.any(String) },
        },
      ],
      waiting: { scheduled: 1, due: 0 },
      failures: {
        groups: [
          { code: 'mailbox_full', provider: 'picky', channel: 'email', count: 2 },
          { code: 'recipient_unreachable', count: 1 },
        ],
      },
    })
    host.clock.advance(2 * HOUR)
    await send('ada@example.com')
    for (let time = 0; time < 2; time += 1) {
      const later = await operation('getStatistics', { path })
      expect([sum(later, 'accepted'), sum(later, 'sent'), sum(later, 'failed')]).toEqual([6, 2, 3])
      expect(later).toMatchObject({
        successRate: 0.4,
        providers: [{ sent: 2, failed: 3, failingSince: null }],
      })
    }
    const hour = await operation('getStatistics', { path: `${path}?period=1h` })
    expect([sum(hour, 'sent'), sum(hour, 'failed'), (hour.spans as object[]).length]).toEqual([1, 0, 12])
    expect(hour).toMatchObject({ successRate: 1, providers: [{ sent: 1, failed: 0, lastError: null }] })
    const week = await operation('getStatistics', { path: `${path}?period=7d` })
    expect([sum(week, 'sent'), sum(week, 'failed'), (week.spans as object[]).length]).toEqual([2, 3, 28])
    expect(await api({ path: `${path}?period=1y` })).toMatchObject({ status: 400 })
    host.clock.advance(23 * HOUR)
    expect(sum(await operation('getStatistics', { path }), 'failed')).toBe(0)
    const headers = { ...operator, 'x-organization-id': 'org_other' }
    expect(sum(await operation('getStatistics', { path, headers }), 'accepted')).toBe(0)
  })

  it('tell until when a provider is paused', async () => {
    const paused = await startHost({
      channel: {
        name: 'down',
        send: async () => ({ kind: 'retry', code: 'provider_error', scope: 'provider', retryAfterMs: HOUR }),
      },
    })
    onTestFinished(() => paused.close())
    await paused.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    const provider = await eventually(async () => {
      const { providers } = await paused.notifier.statistics.get()
      return providers.find(({ pausedUntil }) => pausedUntil !== null)
    })
    const { providers } = await paused.notifier.health()
    expect(provider).toMatchObject({ name: 'down', pausedUntil: expect.any(String) })
    expect(providers).toMatchObject([{ name: 'down', state: 'paused' }])
  })

  it('of the service are for operators', async () => {
    const answer = await operation('getOperations', { path: '/v1/operations', headers: operator })
    expect(answer).toMatchObject({
      status: 'ok',
      reason: null,
      storage: { answers: true },
      providers: [{ channel: 'email', name: 'picky', state: 'ready', pausedUntil: null }],
      oldestDueMs: null,
      backlog: { lanes: [{ lane: 'email', scheduled: 1 }], held: 0 },
    })
    const refused = await api({ path: '/v1/operations' })
    expect(refused).toMatchObject({ status: 403, json: { error: { code: 'operator_key_required' } } })
  })
})

describe('dead letters', () => {
  const path = '/v1/dead-letters/groups'

  it('are grouped by code, provider and channel, and filtered', async () => {
    const all = await operation('groupDeadLetters', { path })
    expect(all).toMatchObject({ groups: [{ count: 2 }, { count: 1 }], total: 3, exact: true })
    const full = await operation('groupDeadLetters', { path: `${path}?code=mailbox_full&provider=picky` })
    expect(full.groups).toEqual([(all.groups as unknown[])[0]])
    for (const query of ['channel=sms', 'provider=other', `from=${new Date(host.clock.now()).toISOString()}`])
      expect(await operation('groupDeadLetters', { path: `${path}?${query}` })).toMatchObject({ groups: [] })
  })

  it('are retried in calls of a bounded number, which go on by a cursor', async () => {
    const retry = (body: object) => operation('retryDeadLetters', { path: '/v1/dead-letters/retry', body })
    const filter = { code: 'mailbox_full' }
    expect(await retry({ filter, dryRun: true })).toMatchObject({ retried: 2, more: false, nextCursor: null })
    const first = await retry({ filter, most: 1, dryRun: true })
    expect(first).toMatchObject({ retried: 1, more: true })
    const rest = await retry({ filter, most: 10, dryRun: true, cursor: first.nextCursor })
    expect(rest).toMatchObject({ retried: 1, more: false, nextCursor: null })

    failing.delete('full@example.com')
    const slow = { filter: {}, most: 1, ratePerSecond: 0.01 }
    const begun = await retry(slow)
    const second = await retry({ ...slow, cursor: begun.nextCursor })
    const apart = Date.parse(String(second.lastDueAt)) - Date.parse(String(begun.lastDueAt))
    expect(Math.round(apart / 1_000)).toBe(100)
    expect(await retry({ ...slow, cursor: second.nextCursor })).toMatchObject({
      retried: 1,
      nextCursor: null,
    })
    host.clock.advance(HOUR)
    await eventually(async () => {
      const { groups } = await operation('groupDeadLetters', { path })
      return (groups as unknown[]).length === 1 ? groups : undefined
    })
  })

  it.each(['', 'x', 'retry.', 'retry.x', 'retry.1.!', 'dead-letters.1.2', 5])(
    'are not retried from the cursor %j',
    async (cursor) => {
      const body = { filter: {}, dryRun: true, cursor }
      const answer = await api({ method: 'POST', path: '/v1/dead-letters/retry', body })
      expect(answer).toMatchObject({ status: 400, json: { error: { details: { field: 'cursor' } } } })
    },
  )

  it.each([
    ['code=nope', 'code'],
    ['from=yesterday', 'from'],
    ['provider=', 'provider'],
    ['channel=E', 'channel'],
  ])('are not grouped by %s', async (query, field) => {
    const { status, json } = await api({ path: `${path}?${query}` })
    expect([400, 422]).toContain(status)
    expect(json).toMatchObject({ error: { details: { field } } })
  })
})
