import { test } from 'vitest'
import { webhook } from '../../adapters/channels/webhook/send.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import type { ProviderReply, ProviderRow } from '../../src/testing/channel/provider-server.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'

/** With what the receiver was sent in its words. */
const says = (status: number): ProviderReply => ({
  status,
  headers: { 'retry-after': '9', location: '/elsewhere' },
  body: '$credentials',
})

/** One of each kind; the others are in test/integration/webhook-provider.test.ts. */
const ROWS: readonly ProviderRow[] = [
  {
    row: 'gone',
    reply: says(410),
    outcome: { kind: 'rejected', code: 'endpoint_gone', scope: 'recipient', providerCode: '410' },
  },
  {
    row: 'overloaded',
    reply: says(503),
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', retryAfterMs: 9_000 },
  },
  {
    row: 'another success than 200',
    reply: says(202),
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', providerCode: '202' },
  },
  {
    row: 'redirected',
    reply: says(302),
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', providerCode: '302' },
  },
]

providerContract(
  test,
  async () => {
    const secret = webhookSigner().newSecret()
    return httpProviderHarness({
      rows: ROWS,
      accept: () => ({ status: 200 }),
      provider: () =>
        webhook({
          secret,
          headers: { authorization: 'Bearer correct-horse' },
          allow: ['127.0.0.1'],
          allowHttp: true,
          timeoutMs: 600_000,
          maxConcurrent: 4,
        }),
      message: (url) => ({ to: `${url}/hook`, subject: 'Hello', body: '', format: 'text' }),
      secrets: [secret, 'correct-horse'],
      take: ({ path, headers, body }) => ({
        to: `http://${headers.host}${path}`,
        body: JSON.parse(body.toString('utf8')).data.body,
        id: String(headers['webhook-id']),
      }),
    })
  },
  ROWS,
  { http: true, statusAlone: true },
)
