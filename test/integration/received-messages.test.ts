import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import twilioProvider from 'twilio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { notifierHandler } from '../../adapters/http/node.ts'
import {
  createNotifier,
  type MessageReceivedEvent,
  type Notifier,
  perOrganization,
  sms,
} from '../../src/index.ts'
import { call } from '../support/http-client.ts'
import { inMemory } from '../support/in-memory.ts'

const PUBLIC = 'https://app.example'
const SHARED = 'the-token-of-the-application'
const FROM = '+4915112345678'
const OUR_NUMBER = '+15005550006'
const tokenOf = (organizationId: string) => `the-token-of-${organizationId}`

let notifier: Notifier
let port: number
let heard: MessageReceivedEvent[]
const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

const provider = (authToken: string) =>
  twilio({ accountSid: `AC${'0'.repeat(32)}`, authToken, from: OUR_NUMBER, receipts: {} })

beforeEach(async () => {
  notifier = createNotifier({
    storage: inMemory(),
    publicUrl: PUBLIC,
    channels: {
      sms: perOrganization(
        sms,
        async (organizationId) => provider(tokenOf(organizationId)),
        provider(SHARED),
      ),
    },
  })
  await notifier.start({ deliver: false })
  cleanUp.push(() => notifier.stop())
  for (const id of ['org_a', 'org_b']) await notifier.organizations.create({ id, name: id })
  heard = []
  notifier.on('message.received', (event) => heard.push(event))
  const server = createServer(notifierHandler(notifier, { https: 'allow-loopback' }))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanUp.push(() => new Promise((resolve) => server.close(resolve)))
  port = (server.address() as AddressInfo).port
})

/** Posts a text as Twilio does, signed by Twilio's own code. */
async function write(
  Body: string,
  { to = '', sid = 'SM1', token = SHARED, more = {} } = {},
): Promise<number> {
  const path = `/receipts/${to}sms/twilio`
  const fields = { MessageSid: sid, SmsStatus: 'received', From: FROM, To: OUR_NUMBER, Body, ...more }
  const signature = twilioProvider.getExpectedTwilioSignature(token, PUBLIC + path, fields)
  const { status } = await call(port, {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
    body: new URLSearchParams(fields).toString(),
  })
  return status
}

/** Registers an endpoint of an organization that chose the event. */
async function endpointOf(organizationId: string) {
  const { webhooks } = notifier.organization(organizationId)
  const { id } = await webhooks.create({ url: 'https://example.com/hook', events: ['message.received'] })
  return async () => (await webhooks.deliveries(id)).items
}

describe('an incoming text', () => {
  it('is announced once, with what it changed, and posted to the endpoints that chose it', async () => {
    const told = await endpointOf('org_default')
    expect(await write('Where is my order?')).toBe(200)
    expect(await write('Where is my order?')).toBe(200)
    expect(heard).toEqual([
      {
        event: 'message.received',
        data: {
          id: expect.stringMatching(/^in_[\w-]{24}$/),
          organizationId: 'org_default',
          channel: 'sms',
          provider: 'twilio',
          from: FROM,
          to: OUR_NUMBER,
          text: 'Where is my order?',
          consent: null,
          timestamp: expect.stringMatching(/Z$/),
        },
      },
    ])
    const [delivery, ...none] = await told()
    expect(none).toEqual([])
    expect(delivery).toMatchObject({ eventId: `evt_${heard[0]?.data.id}`, event: 'message.received' })
    expect(JSON.parse(delivery?.payload ?? '')).toEqual(heard[0])
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it('says that it opted out or in', async () => {
    await write('“Stop.”', { sid: 'SM1' })
    expect((await notifier.suppressions.list()).items).toMatchObject([{ to: FROM, reason: 'stop' }])
    await write('Yes please', { sid: 'SM2' })
    await write('Un-stop!', { sid: 'SM3' })
    expect((await notifier.suppressions.list()).items).toEqual([])
    expect(heard.map(({ data }) => [data.text, data.consent])).toEqual([
      ['“Stop.”', 'stop'],
      ['Yes please', null],
      ['Un-stop!', 'start'],
    ])
    expect(new Set(heard.map(({ data }) => data.id)).size).toBe(3)
  })

  it('of a phone with two numbers opts out both', async () => {
    await write('STOP', { more: { From: '+5215512345678' } })
    expect(heard[0]?.data).toMatchObject({ from: '+5215512345678', consent: 'stop' })
    const send = notifier.send({ channel: 'sms', to: '+525512345678', body: 'Hi' })
    await expect(send).rejects.toMatchObject({ code: 'unsubscribed' })
    await write('START', { sid: 'SM2', more: { From: '+525512345678' } })
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it('belongs to the organization of the provider alone', async () => {
    const endpoints = [await endpointOf('org_a'), await endpointOf('org_b'), await endpointOf('org_default')]
    const counts = async () =>
      (await Promise.all(endpoints.map((told) => told()))).map(({ length }) => length)
    expect(await write('STOP', { to: 'org_a/', token: tokenOf('org_a') })).toBe(200)
    expect(heard.map(({ data }) => data.organizationId)).toEqual(['org_a'])
    expect(await counts()).toEqual([1, 0, 0])
    // The same text at another organization's provider is another one.
    await write('STOP', { to: 'org_b/', token: tokenOf('org_b') })
    await write('STOP')
    expect(await counts()).toEqual([1, 1, 1])
    expect(new Set(heard.map(({ data }) => data.id)).size).toBe(3)
    expect(await write('STOP', { to: 'org_a/', token: tokenOf('org_b'), sid: 'SM9' })).toBe(401)
    expect(heard).toHaveLength(3)
  })

  it('is cut, and repaired', async () => {
    await write(`a\0b${'x'.repeat(10_000)}`)
    expect(heard[0]?.data.text).toBe(`a\ufffdb${'x'.repeat(4_093)}`)
  })

  it('without words is not announced', async () => {
    await write('', { more: { NumMedia: '1' } })
    expect(heard).toEqual([])
  })
})
