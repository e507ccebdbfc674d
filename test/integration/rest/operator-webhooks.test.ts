import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../../src/webhook-receiver/verify.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { httpReceiver, type Receiver } from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const

let host: Host
let receiver: Receiver
let operator: { authorization: string }
const received: { readonly id: string; readonly organizationId: string }[] = []
let secret: string

beforeEach(async () => {
  received.length = 0
  host = await startHost({ webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } })
  receiver = await httpReceiver((response, { headers, body }) => {
    const { event, data } = verifyWebhook(body, headers, secret, { now: host.clock.now })
    if (event === 'notification.sent')
      received.push({ id: String(headers['webhook-id']), organizationId: data.organizationId })
    response.end()
  })
  operator = await host.operatorKey()
  for (const id of ['org_acme', 'org_beta']) await host.notifier.organizations.create({ id, name: id })
})
afterEach(async () => {
  await host.close()
  await receiver.close()
})

function call(method: string, path: string, body?: object, headers: object = operator): Promise<Answer> {
  const query = path.includes('?') ? '&' : '?'
  return host.call({ method, path: `/v1/webhooks${path}${query}orgId=*`, headers: { ...headers }, body })
}

async function create(events?: readonly string[]): Promise<string> {
  const { status, json } = await call('POST', '', { url: `http://127.0.0.1:${receiver.port}/`, events })
  expect(status).toBe(201)
  secret = String(json?.secret)
  return String(json?.id)
}

const outcome = (answer: Answer): unknown[] => [answer.status, codeOf(answer)]
const itemsOf = ({ json }: Answer) => (json?.items ?? []) as { id: string; event: string }[]
const idsOf = (answer: Answer): unknown[] => itemsOf(answer).map(({ id }) => id)

describe('an endpoint of operators over REST', () => {
  it('gets the events of every organization, and shows them in its delivery log', async () => {
    const id = await create()
    for (const organizationId of ['org_acme', 'org_beta'])
      await host.notifier.organization(organizationId).send(mail)
    await eventually(() => received.length === 2)
    expect(received.map(({ organizationId }) => organizationId).sort()).toEqual(['org_acme', 'org_beta'])
    const delivered = async () => itemsOf(await call('GET', `/${id}/deliveries?status=delivered`))
    await eventually(async () => (await delivered()).length === 2)
    expect(await delivered()).toMatchObject([{ event: 'notification.sent' }, { event: 'notification.sent' }])

    const cursor = String((await call('GET', `/${id}/deliveries?limit=1`)).json?.nextCursor)
    expect(itemsOf(await call('GET', `/${id}/deliveries?cursor=${cursor}`))).toHaveLength(1)
    const own = await host.notifier.webhooks.create({ url: 'https://example.com/' })
    await expect(host.notifier.webhooks.deliveries(own.id, { cursor })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'cursor' },
    })

    const [first] = received
    const again = await call('POST', `/${id}/deliveries/${first?.id}/redeliver`)
    expect([again.status, again.json?.eventId]).toEqual([200, first?.id])
    await eventually(() => received.length === 3)
    expect(received.at(-1)).toEqual(first)
  })

  it('is changed, tested, rotated, redelivered to and deleted', async () => {
    const id = await create(['notification.sent'])
    const changed = await call('PATCH', `/${id}`, { status: 'disabled' })
    expect(changed.json).toMatchObject({ id, status: 'disabled', disabledReason: 'manual' })
    expect((await call('POST', `/${id}/test`)).json).toMatchObject({ succeeded: true, status: 200 })

    await host.notifier.organization('org_acme').send(mail)
    await eventually(async () => itemsOf(await call('GET', `/${id}/deliveries?status=held`)).length === 1)
    const since = new Date(host.clock.now() - 60_000).toISOString()
    expect(outcome(await call('POST', `/${id}/redeliver`, { since }))).toEqual([409, 'endpoint_disabled'])
    const rotated = await call('POST', `/${id}/rotate-secret`, { overlapMs: 0 })
    expect(rotated.json?.secret).not.toBe(secret)
    secret = String(rotated.json?.secret)
    await call('PATCH', `/${id}`, { status: 'active' })
    expect((await call('POST', `/${id}/redeliver`, { since })).json).toEqual({ redelivered: 1 })
    await eventually(() => received.length === 1)
    expect((await call('DELETE', `/${id}`)).json).toEqual({ deleted: true })
    expect(outcome(await call('GET', `/${id}`))).toEqual([404, 'not_found'])
  })

  it('is not seen by organizations, also not by an operator who names one', async () => {
    const id = await create()
    const own = await host.notifier.webhooks.create({ url: 'https://example.com/' })
    expect(idsOf(await call('GET', ''))).toEqual([id])
    for (const headers of [await host.key(), { ...operator, 'x-organization-id': 'org_default' }]) {
      const of = (path: string) => host.call({ path: `/v1/webhooks${path}`, headers })
      expect(idsOf(await of(''))).toEqual([own.id])
      expect(outcome(await of(`/${id}`))).toEqual([404, 'not_found'])
    }
    // The other way round: to change one of an organization, name that organization.
    expect(outcome(await call('DELETE', `/${own.id}`))).toEqual([403, 'organization_mismatch'])
    expect(outcome(await call('GET', '', undefined, await host.key()))).toEqual([
      403,
      'organization_mismatch',
    ])
  })

  it('is on pages of its own', async () => {
    for (let count = 0; count < 3; count += 1) await create()
    const first = await call('GET', '?limit=2')
    const cursor = String(first.json?.nextCursor)
    const second = await call('GET', `?limit=2&cursor=${cursor}`)
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3)
    const elsewhere = await host.call({ path: `/v1/webhooks?cursor=${cursor}`, headers: await host.key() })
    expect(outcome(elsewhere)).toEqual([400, 'invalid_parameter'])
    for (const url of ['https://example.com/a', 'https://example.com/b'])
      await host.notifier.webhooks.create({ url })
    const { nextCursor } = await host.notifier.webhooks.list({ limit: 1 })
    expect(outcome(await call('GET', `?cursor=${nextCursor}`))).toEqual([400, 'invalid_parameter'])
  })

  it('of a listener is shown, paused and redelivered to', async () => {
    const seen: string[] = []
    await host.notifier.allOrganizations.listen('mirror', (_, { id }) => void seen.push(id))
    const id = 'wh_listener.mirror'
    expect((await call('GET', `/${id}`)).json).toMatchObject({ id, url: 'listener:mirror' })
    await host.notifier.organization('org_acme').send(mail)
    await eventually(() => seen.length === 1)
    const [event = ''] = seen
    expect((await call('POST', `/${id}/deliveries/${event}/redeliver`)).status).toBe(200)
    await eventually(() => seen.length === 2)
    expect((await call('PATCH', `/${id}`, { status: 'disabled' })).json).toMatchObject({ status: 'disabled' })
    expect(outcome(await call('POST', `/${id}/rotate-secret`))).toEqual([400, 'invalid_parameter'])
  })
})
