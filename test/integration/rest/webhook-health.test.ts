import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { EndpointEvent } from '../../../src/index.ts'
import { verifyWebhook } from '../../../src/webhook-receiver/index.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { httpReceiver, type Receiver } from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

describe('webhook endpoints that fail', () => {
  /** A host, an endpoint that answers as told, and another one that is told what becomes of it. */
  async function start(status: { now: number }) {
    host = await startHost({
      storage: inMemory(),
      webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    })
    const headers = await host.key('Full Access')
    const request = (method: string, path: string, body?: object): Promise<Answer> =>
      host.call({ method, path, headers, body })
    const open = async (answer: () => number): Promise<Receiver> => {
      const receiver = await httpReceiver((response) => response.writeHead(answer()).end())
      onTestFinished(receiver.close)
      return receiver
    }
    const [bad, good] = [await open(() => status.now), await open(() => 200)]
    const create = async (receiver: Receiver, events: string[]): Promise<{ id: string; secret: string }> => {
      const url = `http://127.0.0.1:${receiver.port}/`
      const { json } = await request('POST', '/v1/webhooks', { url, events })
      return { id: String(json?.id), secret: String(json?.secret) }
    }
    const hook = await create(bad, ['notification.sent'])
    const watcher = await create(good, ['webhook.failing', 'webhook.disabled'])
    const heard: EndpointEvent[] = []
    host.notifier.on('webhook.failing', (event) => heard.push(event))
    host.notifier.on('webhook.disabled', (event) => heard.push(event))
    const send = () => host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    return { request, bad, good, hook, watcher, heard, send }
  }

  it('a 410 disables, is heard in the process, and told to the other endpoint, signed', async () => {
    const { request, good, hook, watcher, heard, send } = await start({ now: 410 })
    await send()
    const told = await eventually(() => good.requests[0])
    const event = verifyWebhook(told.body, told.headers as Record<string, string>, watcher.secret)
    expect(event).toMatchObject({ event: 'webhook.disabled', data: { id: hook.id, reason: 'gone' } })
    expect(await eventually(() => heard[0])).toEqual(event)
    const { json } = await request('GET', `/v1/webhooks/${hook.id}`)
    expect(json).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    expect(json?.failingSince).toMatch(/^20\d\d-/)
    await send()
    await eventually(async () => (await host.notifier.webhooks.deliveries(hook.id)).items.length === 2)
    expect(good.requests).toHaveLength(1)
  })

  it('four failed attempts on one event are told, and a retry by hand goes at once', async () => {
    const status = { now: 500 }
    const { request, bad, good, hook, heard, send } = await start(status)
    await send()
    await eventually(() => bad.requests.length === 1)
    const path = `/v1/webhooks/${hook.id}/deliveries`
    const delivery = async () => (await host.notifier.webhooks.deliveries(hook.id)).items[0]
    const attempted = (count: number) => eventually(async () => (await delivery())?.attempts.length === count)
    await attempted(1)
    const eventId = (await delivery())?.eventId
    for (const count of [2, 3, 4]) {
      expect(heard).toEqual([])
      const retried = await request('POST', `${path}/${eventId}/redeliver`)
      expect([retried.status, retried.json]).toMatchObject([200, { eventId, status: 'pending' }])
      await attempted(count)
    }
    expect(await eventually(() => heard[0])).toMatchObject({
      event: 'webhook.failing',
      data: { id: hook.id, status: 'active', reason: null },
    })
    await eventually(() => good.requests.length === 1)
    status.now = 200
    await request('POST', `${path}/${eventId}/redeliver`)
    await eventually(async () => (await delivery())?.status === 'delivered')
    expect((await request('GET', `/v1/webhooks/${hook.id}`)).json?.failingSince).toBeNull()
    await request('POST', `${path}/${eventId}/redeliver`)
    await eventually(() => bad.requests.length === 6)
    expect(new Set(bad.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)

    const unknown = await request('POST', `${path}/evt_0/redeliver`)
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'not_found'])
    await request('PATCH', `/v1/webhooks/${hook.id}`, { status: 'disabled' })
    const disabled = await request('POST', `${path}/${eventId}/redeliver`)
    expect([disabled.status, codeOf(disabled)]).toEqual([409, 'endpoint_disabled'])
    expect(heard).toHaveLength(1)
  })
})
