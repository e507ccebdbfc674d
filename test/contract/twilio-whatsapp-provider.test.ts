import { expect, it, onTestFinished, test } from 'vitest'
import { twilioWhatsApp } from '../../adapters/channels/twilio/send.ts'
import type { WhatsAppContent } from '../../adapters/channels/whatsapp/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'
import { ACCOUNT, account, asked, created, ROWS, sidOf } from '../support/twilio.ts'

const TOKEN = 'correct-horse-battery-staple'
const FROM = '+14155238886'
const TO = '+4915112345678'
const CONTENT = `HX${'0123456789abcdef'.repeat(2)}`

function providerAt(baseUrl: string, more: Partial<Parameters<typeof twilioWhatsApp>[0]> = {}) {
  return twilioWhatsApp({
    accountSid: ACCOUNT,
    authToken: TOKEN,
    from: FROM,
    baseUrl,
    maxConcurrent: 4,
    receipts: { url: 'https://app.example/receipts/whatsapp/twilio' },
    ...more,
  })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => providerAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN, Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')],
      accept: created,
      aside: account('active'),
      take(request) {
        const { to, ...rest } = asked(request)
        return { ...rest, to: to.replace(/^whatsapp:/, '') }
      },
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

async function start(more: Partial<Parameters<typeof twilioWhatsApp>[0]> = {}) {
  const server = await providerServer({ accept: created })
  const provider = providerAt(server.url, more)
  onTestFinished(async () => {
    await provider.close?.()
    await server.close()
  })
  const send = (body: string, parts?: WhatsAppContent) =>
    provider.send({ to: TO, subject: null, body, format: 'text', whatsapp: parts }, sendContext())
  const sent = () =>
    server.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body.toString('utf8'))))
  return { server, send, sent }
}

const reports = `https://app.example/receipts/whatsapp/twilio?carillon_id=${sendContext().notificationId}`

it('asks for a text, between addresses of WhatsApp', async () => {
  const { server, send, sent } = await start()
  expect(await send('Grüße 🎉')).toEqual({ kind: 'accepted', providerMessageId: sidOf(1) })
  expect(sent()).toEqual([
    { To: `whatsapp:${TO}`, From: `whatsapp:${FROM}`, Body: 'Grüße 🎉', StatusCallback: reports },
  ])
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`,
  })
})

it('asks for a template in place of the text', async () => {
  const messagingServiceSid = `MG${'ab'.repeat(16)}`
  const { send, sent } = await start({ from: undefined, messagingServiceSid, receipts: undefined })
  const approvedTemplate = { name: 'order_shipped', language: 'en_US' }
  await send('Hello', { contentTemplate: { sid: CONTENT, variables: { 1: 'Ada', place: '"Köln"' } } })
  await send('', { contentTemplate: { sid: CONTENT }, approvedTemplate })
  const message = { To: `whatsapp:${TO}`, MessagingServiceSid: messagingServiceSid, ContentSid: CONTENT }
  expect(sent()).toEqual([
    { ...message, ContentVariables: JSON.stringify({ 1: 'Ada', place: '"Köln"' }) },
    message,
  ])
})

it('sends no text in place of a template that only Meta has', async () => {
  const { send, sent } = await start()
  expect(await send('Hello', { approvedTemplate: { name: 'hello_world', language: 'de' } })).toMatchObject({
    kind: 'rejected',
    code: 'invalid_content',
    scope: 'message',
    message: expect.stringContaining('"whatsapp.contentTemplate"'),
  })
  expect(sent()).toEqual([])
})

it.each([
  ['accountSid', { accountSid: 'AC1' }],
  ['from', { from: `whatsapp:${FROM}` }],
  ['from', { from: 'Example' }],
  ['from', { from: undefined }],
])('a wrong option is named: %s', (option, wrong) => {
  expect(() => providerAt('https://api.twilio.com', wrong)).toThrow(`twilioWhatsApp: "${option}"`)
})
