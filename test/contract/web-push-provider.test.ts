import { test } from 'vitest'
import webPushProvider from 'web-push'
import { webPush } from '../../adapters/channels/web-push/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import type { ProviderReply, ProviderRow } from '../../src/testing/channel/provider-server.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import { pushClient } from '../support/push-client.ts'

type Expected = OutcomeRow['outcome']

const row = (name: string, reply: ProviderReply, outcome: Expected): ProviderRow => ({
  row: name,
  reply,
  outcome,
})
const dead: Expected = { kind: 'rejected', code: 'device_unregistered', scope: 'recipient' }
const otherKey: Expected = { kind: 'rejected', code: 'topic_mismatch', scope: 'recipient' }
const auth: Expected = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
const outage: Expected = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }

/** RFC 8030 and 8292, and what the push services of the browsers say. */
const ROWS: readonly ProviderRow[] = [
  row('200, as some services say', { status: 200 }, { kind: 'accepted' }),
  row(
    '404',
    { status: 404, body: 'push subscription has unsubscribed or expired.' },
    { ...dead, providerCode: '404' },
  ),
  row('410', { status: 410, body: { reason: 'Unregistered' } }, { ...dead, providerCode: '410' }),
  row('413', { status: 413 }, { kind: 'rejected', code: 'message_too_large', scope: 'message' }),
  row(
    '400',
    { status: 400, body: 'Bad TTL' },
    { kind: 'rejected', code: 'provider_error', scope: 'message' },
  ),
  row('401, repeating the token', { status: 401, body: 'Not $credentials' }, auth),
  row(
    '401, repeating the token where the text ends',
    { status: 401, body: `${'x'.repeat(465)} $credentials` },
    auth,
  ),
  row('403', { status: 403, body: { reason: 'BadJwtToken' } }, auth),
  row(
    '403: another key, of Chrome',
    {
      status: 403,
      body: 'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.',
    },
    otherKey,
  ),
  row(
    '403: another key, of Edge',
    { status: 403, headers: { 'x-wns-msg-id': '2D3CCACF3E2F45C0' } },
    otherKey,
  ),
  row('400: another key, of Safari', { status: 400, body: { reason: 'VapidPkHashMismatch' } }, otherKey),
  row(
    '401: another key, of Firefox',
    { status: 401, body: { errno: 109, message: 'VAPID public key mismatch' } },
    otherKey,
  ),
  row(
    '429',
    { status: 429, headers: { 'retry-after': '7' } },
    { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient', retryAfterMs: 7_000 },
  ),
  row(
    '406, as Edge is throttled',
    { status: 406, headers: { 'retry-after': '900', 'x-wns-status': 'appthrottled' } },
    { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient', retryAfterMs: 900_000 },
  ),
  row('408', { status: 408 }, { ...outage, scope: 'recipient' }),
  row('500', { status: 500 }, outage),
  row('503', { status: 503, headers: { 'retry-after': '30' } }, { ...outage, retryAfterMs: 30_000 }),
  row(
    '302',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    { kind: 'rejected', code: 'provider_error', scope: 'recipient' },
  ),
]

providerContract(
  test,
  async () => {
    const vapid = webPushProvider.generateVAPIDKeys()
    const client = pushClient()
    let to = ''
    return httpProviderHarness({
      rows: ROWS,
      accept: (_, number) => ({ status: 201, headers: { location: `/message/${number}` } }),
      provider: () =>
        webPush({
          vapid: { subject: 'mailto:ops@example.com', ...vapid },
          allow: ['127.0.0.1'],
          allowHttp: true,
          pushServices: ['127.0.0.1', 'provider.invalid'],
          timeoutMs: 600_000,
          maxConcurrent: 4,
        }),
      message(url) {
        to = client.subscription(`${url}/push/1`)
        return { to, subject: 'Hello', body: '', format: 'text' }
      },
      secrets: [vapid.privateKey, 'eyJ'],
      take: ({ body, headers }) => ({
        to,
        body: JSON.parse(client.read(body)).body,
        id: String(headers.topic),
      }),
    })
  },
  ROWS,
  { http: true, statusAlone: true },
)
