import { test } from 'vitest'
import { webhookChannel } from '../../adapters/channels/webhook/webhook.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import { channelContract, type OutcomeRow, type ProviderAct } from '../../src/testing/channel-contract.ts'
import { httpReceiver } from '../integration/support/receivers.ts'

/** One of each kind; the others are in test/integration/webhook-channel.test.ts. */
const ROWS: readonly (OutcomeRow & { readonly status: number })[] = [
  {
    row: 'gone',
    status: 410,
    outcome: { kind: 'rejected', code: 'endpoint_gone', scope: 'recipient', providerCode: '410' },
  },
  {
    row: 'overloaded',
    status: 503,
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', retryAfterMs: 9_000 },
  },
  {
    row: 'another success than 200',
    status: 202,
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', providerCode: '202' },
  },
  {
    row: 'redirected',
    status: 302,
    outcome: { kind: 'retry', code: 'endpoint_error', scope: 'recipient', providerCode: '302' },
  },
]

channelContract(
  test,
  async () => {
    let how: ProviderAct = { kind: 'accept' }
    const taken: { to: string; body: string; id: string | null }[] = []
    let hangs = () => {}
    const hanging = new Promise<void>((resolve) => {
      hangs = resolve
    })
    const receiver = await httpReceiver((response, { path, headers, body }) => {
      const act = how
      switch (act.kind) {
        case 'accept':
          taken.push({
            to: `http://${headers.host}${path}`,
            body: JSON.parse(body.toString('utf8')).body,
            id: String(headers['webhook-id']),
          })
          response.end()
          break
        case 'hang':
          hangs()
          break
        case 'break':
          response.destroy()
          break
        case 'answer':
          response
            .writeHead(ROWS.find(({ row }) => row === act.row)?.status ?? 500, {
              'retry-after': '9',
              location: '/elsewhere',
            })
            .end(headers.authorization)
      }
    })
    const secret = webhookSigner().newSecret()
    const channel = webhookChannel({
      secret,
      headers: { authorization: 'Bearer correct-horse' },
      allow: ['127.0.0.1'],
      allowHttp: true,
      timeoutMs: 600_000,
      maxConcurrent: 4,
    })
    const to = `http://127.0.0.1:${receiver.port}/hook`
    return {
      channel,
      message: { to, subject: 'Hello', body: '', format: 'text' },
      secrets: [secret, 'correct-horse'],
      act(next) {
        how = next
      },
      taken: async () => taken,
      hanging: () => hanging,
      mostConnections: () => receiver.mostOpen,
      drained: receiver.drained,
      close: receiver.close,
    }
  },
  ROWS,
)
