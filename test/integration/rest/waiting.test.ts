import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Call } from '../../support/http-client.ts'
import { succeeded } from '../../support/operation.ts'
import { httpReceiver } from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
let auth: { authorization: string }
let answering = true

beforeAll(async () => {
  host = await startHost({
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    channel: {
      name: 'moody',
      maxConcurrent: 1,
      async send({ to }) {
        if (to === 'full@example.com') return { kind: 'retry', code: 'mailbox_full', scope: 'recipient' }
        if (to === 'gone@example.com')
          return { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' }
        if (to === 'spam@example.com') return { kind: 'rejected', code: 'spam_detected', scope: 'message' }
        if (answering) return { kind: 'accepted', providerMessageId: to }
        return { kind: 'retry', code: 'provider_suspended', scope: 'account', retryAfterMs: 600_000 }
      },
    },
  })
  auth = await host.key('Read Only')
})
afterAll(() => host.close())

const api = (options: Call) => host.call({ ...options, headers: { ...auth, ...options.headers } })

const operation = async (name: string, options: Call) => (await succeeded(api, name, options)).json ?? {}

const send = async (to: string, rest: object = {}) =>
  (await host.notifier.send({ channel: 'email', to, body: 'Hi', ...rest })).id

const waitingOf = async (id: string) =>
  (await operation('getNotification', { path: `/v1/notifications/${id}` })).waiting

describe('a notification tells what can be done with it', () => {
  const can = (...names: string[]) => ({
    cancel: names.includes('cancel'),
    reschedule: names.includes('reschedule'),
    resend: names.includes('resend'),
    retry: names.includes('retry'),
  })

  it.each([
    [
      'while it is scheduled',
      'd@example.com',
      { inMs: 3_600_000 },
      'scheduled',
      ['cancel', 'reschedule'],
      null,
    ],
    ['between two attempts', 'full@example.com', {}, 'queued', ['cancel'], null],
    ['when its recipient does not exist', 'gone@example.com', {}, 'failed', [], 'hard_bounce'],
    ['when it failed', 'spam@example.com', {}, 'failed', ['resend', 'retry'], null],
    ['when its content is removed', 'spam@example.com', { sensitive: true }, 'failed', [], null],
  ])(
    '%s',
    async (_, to, { inMs, ...rest }: { inMs?: number; sensitive?: boolean }, status, names, suppressed) => {
      const later = inMs === undefined ? {} : { sendAt: new Date(host.clock.now() + inMs) }
      const id = await send(to, { ...rest, ...later })
      const found = await eventually(async () => {
        const record = await operation('getNotification', { path: `/v1/notifications/${id}` })
        const timeline = record.timeline as { attempt: number | null; suppressed: string | null }[]
        const stands = record.status === status && (status !== 'queued' || timeline.length > 1)
        return stands ? { actions: record.actions, suppressed: timeline.at(-1)?.suppressed } : undefined
      })
      expect(found).toEqual({ actions: can(...names), suppressed })
    },
  )
})

describe('a notification that waits tells why', () => {
  it('while it is scheduled, and not when it was sent', async () => {
    const sendAt = new Date(host.clock.now() + 3_600_000)
    const until = sendAt.toISOString()
    expect(await waitingOf(await send('a@example.com', { sendAt }))).toEqual({
      reason: 'scheduled',
      until,
      code: null,
      message: null,
    })
    const id = await send('a@example.com')
    await host.notifier.waitFor(id)
    expect(await waitingOf(id)).toBeNull()
  })

  it('between two attempts', async () => {
    const sentAt = host.clock.now()
    const id = await send('full@example.com')
    const waiting = await eventually(async () => {
      const found = (await waitingOf(id)) as { reason: string; until: string } | null
      return found?.reason === 'retry' ? found : undefined
    })
    expect(waiting).toMatchObject({ code: 'mailbox_full' })
    expect(Date.parse(waiting.until)).toBeGreaterThan(sentAt)
  })

  it('while its provider is paused', async () => {
    answering = false
    const id = await send('b@example.com')
    const waiting = await eventually(async () => {
      const found = (await waitingOf(id)) as { reason: string } | null
      return found?.reason === 'provider_paused' || found?.reason === 'retry' ? found : undefined
    })
    expect(waiting).toMatchObject({ code: 'provider_suspended' })
    const next = await send('c@example.com')
    await eventually(async () => {
      const found = (await waitingOf(next)) as { reason: string; until: string } | null
      return found?.reason === 'provider_paused' && found.until !== null
    })
    expect(await waitingOf(next)).toMatchObject({ code: 'provider_suspended' })
  })
})

describe('lists', () => {
  it.each([
    ['code=mailbox_full', ['full@example.com', 'full@example.com']],
    ['code=expired', []],
    ['provider=moody&status=sent', ['a@example.com']],
    ['provider=other', []],
  ])('of notifications are filtered by %s', async (query, expected) => {
    const { items } = await operation('listNotifications', { path: `/v1/notifications?${query}` })
    expect((items as { to: string }[]).map(({ to }) => to)).toEqual(expected)
  })

  it.each(['code=nope', 'provider=', 'provider=%00', `provider=${'x'.repeat(65)}`])(
    'are refused with %s',
    async (query) => {
      expect((await api({ path: `/v1/notifications?${query}` })).status).toBe(400)
    },
  )
})

describe('webhook deliveries of a notification', () => {
  it('have the requests and answers of every endpoint', async () => {
    answering = true
    const { webhooks } = host.notifier
    const receiver = await httpReceiver((response, { path, body }) =>
      response.writeHead(path === '/lost' ? 404 : 200).end(body),
    )
    onTestFinished(receiver.close)
    const url = `http://127.0.0.1:${receiver.port}/`
    const hooks = [await webhooks.create({ url }), await webhooks.create({ url: `${url}lost` })]
    host.clock.advance(3_600_000)
    const id = await send('d@example.com')
    await host.notifier.waitFor(id)
    const path = `/v1/notifications/${id}/webhook-deliveries`
    const items = await eventually(async () => {
      const found = (await operation('listNotificationWebhookDeliveries', { path })).items as {
        endpointId: string
        attempts: unknown[]
      }[]
      return found.length === 2 && found.every(({ attempts }) => attempts.length > 0) ? found : undefined
    })
    const of = (index: number) => items.find(({ endpointId }) => endpointId === hooks[index]?.id)
    expect(of(0)).toMatchObject({ event: 'notification.sent', status: 'delivered' })
    expect(of(0)?.attempts).toMatchObject([
      { status: 200, response: expect.stringContaining(id), request: { url } },
    ])
    expect(of(1)).toMatchObject({ status: 'pending', attempts: [{ status: 404, succeeded: false }] })
    const unknown = await api({ path: '/v1/notifications/notif_1/webhook-deliveries' })
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'notification_not_found' } } })
  })
})

describe('GET /v1/me', () => {
  it('tells who asks', async () => {
    const own = await operation('getIdentity', { path: '/v1/me' })
    expect(own).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'test',
      permission: 'Read Only',
      grants: [],
      organizations: ['org_default'],
    })
    const operator = await host.operatorKey('Write')
    const answer = await operation('getIdentity', { path: '/v1/me', headers: operator })
    expect(answer).toMatchObject({ permission: 'Write', organizations: 'all' })
    const nobody = await host.call({ path: '/v1/me' })
    expect(nobody).toMatchObject({ status: 401, json: { error: { code: 'missing_authorization' } } })
  })
})
