import { generateKeyPairSync } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'vitest'
import { apns } from '../../adapters/channels/apns/send.ts'
import {
  type HttpAct,
  type OutcomeRow,
  type ProviderAct,
  providerContract,
  type TakenMessage,
} from '../../src/testing/provider-contract.ts'
import { http2Server } from '../support/http2-server.ts'
import { certificate } from '../support/localhost-certificate.ts'

interface Row extends OutcomeRow {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

type Expected = OutcomeRow['outcome']

const answer = (
  status: number,
  reason: string,
  outcome: Expected,
  more: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Row => ({
  row: `${status} ${reason}`,
  status,
  body: { reason, ...more.body },
  headers: more.headers ?? {},
  outcome: { ...outcome, providerCode: reason },
})
const auth: Expected = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
const ours: Expected = { kind: 'rejected', code: 'provider_error', scope: 'message' }
const topic: Expected = { kind: 'rejected', code: 'topic_mismatch', scope: 'account' }
const token: Expected = { kind: 'rejected', code: 'invalid_device_token', scope: 'recipient' }
const dead: Expected = { kind: 'rejected', code: 'device_unregistered', scope: 'recipient' }
const outage: Expected = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }

/** Apple's table "Response error strings", whole, and answers that are in no table. */
const ROWS: readonly Row[] = [
  answer(400, 'BadCollapseId', ours),
  answer(400, 'BadDeviceToken', token),
  answer(400, 'BadExpirationDate', ours),
  answer(400, 'BadMessageId', ours),
  answer(400, 'BadPriority', ours),
  answer(400, 'BadTopic', topic),
  answer(400, 'DeviceTokenNotForTopic', { ...topic, scope: 'recipient' }),
  answer(400, 'DuplicateHeaders', ours),
  answer(400, 'IdleTimeout', outage),
  answer(400, 'InvalidPushType', ours),
  answer(400, 'MissingDeviceToken', token),
  answer(400, 'MissingTopic', topic),
  answer(400, 'PayloadEmpty', { ...ours, code: 'invalid_content' }),
  answer(400, 'TopicDisallowed', topic),
  answer(403, 'BadCertificate', auth),
  answer(403, 'BadCertificateEnvironment', auth),
  answer(403, 'BadEnvironmentKeyIdInToken', auth),
  answer(403, 'BadEnvironmentKeyInToken', auth),
  answer(403, 'ExpiredProviderToken', { kind: 'retry', code: 'provider_auth_failed', scope: 'account' }),
  answer(403, 'Forbidden', auth),
  answer(403, 'InvalidProviderToken', auth),
  answer(403, 'MissingProviderToken', auth),
  answer(403, 'UnrelatedKeyIdInToken', auth),
  answer(404, 'BadPath', ours),
  answer(405, 'MethodNotAllowed', ours),
  answer(410, 'ExpiredToken', token),
  answer(
    410,
    'Unregistered',
    { ...dead, since: 1_767_225_600_123 },
    { body: { timestamp: 1_767_225_600_123 } },
  ),
  answer(413, 'PayloadTooLarge', { ...ours, code: 'message_too_large' }),
  answer(429, 'TooManyProviderTokenUpdates', {
    kind: 'retry',
    code: 'provider_rate_limited',
    scope: 'account',
    retryAfterMs: 300_000,
  }),
  answer(
    429,
    'TooManyRequests',
    { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient', retryAfterMs: 7_000 },
    { headers: { 'retry-after': '7' } },
  ),
  answer(500, 'InternalServerError', outage),
  answer(503, 'ServiceUnavailable', outage),
  answer(503, 'Shutdown', outage),
  answer(400, 'SomethingNew', ours),
  answer(403, 'SomethingNew', auth),
  answer(410, 'SomethingNew', dead),
  { row: '503 without a body', status: 503, outcome: { ...outage, providerCode: '503' } },
  { row: '502 of a proxy', status: 502, body: '<html>', outcome: { kind: 'ambiguous', providerCode: '502' } },
  { row: '204', status: 204, outcome: { kind: 'ambiguous', providerCode: '204' } },
]

providerContract(
  test,
  async () => {
    let how: ProviderAct | HttpAct = { kind: 'accept' }
    const taken: TakenMessage[] = []
    let hangs = () => {}
    const hanging = new Promise<void>((resolve) => {
      hangs = resolve
    })
    const server = await http2Server((stream, { headers, body }) => {
      const act = how
      switch (act.kind) {
        case 'encoded':
        case 'accept': {
          taken.push({
            to: String(headers[':path']).slice('/3/device/'.length),
            body: JSON.parse(body.toString('utf8')).aps.alert.body,
            id: String(headers['apns-id']),
          })
          stream.respond({ ':status': 200, 'apns-id': String(headers['apns-id']) }, { endStream: true })
          break
        }
        case 'hang':
          hangs()
          break
        case 'break':
          stream.session?.socket.destroy()
          break
        case 'hang-in-body':
        case 'truncate':
          stream.respond({ ':status': 200 })
          stream.write('{', () => {
            if (act.kind === 'truncate') stream.session?.socket.destroy()
            else hangs()
          })
          break
        case 'html':
        case 'empty':
          stream.respond({ ':status': 200, 'content-type': 'text/html' })
          stream.end(act.kind === 'html' ? '<!doctype html><title>Gateway</title>' : '')
          break
        case 'fault':
          stream.respond({ ':status': act.status, 'content-type': 'text/html' })
          stream.end('<!doctype html><title>Gateway</title>')
          break
        case 'redirect':
          stream.respond({ ':status': 307, location: act.to }, { endStream: true })
          break
        case 'endless':
          stream.respond({ ':status': 200 })
          Readable.from(forEver()).pipe(stream)
          break
        case 'overloaded':
          stream.respond({
            ':status': 429,
            ...(act.retryAfter === null ? {} : { 'retry-after': act.retryAfter }),
          })
          stream.end(JSON.stringify({ reason: 'TooManyRequests' }))
          break
        case 'answer': {
          const row = ROWS.find((one) => one.row === act.row)
          stream.respond({
            ':status': row?.status ?? 500,
            ...row?.headers,
            'content-type': 'application/json',
          })
          stream.end(typeof row?.body === 'string' ? row.body : JSON.stringify(row?.body))
        }
      }
    })
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const channelAt = (baseUrl: string) =>
      apns({
        key,
        keyId: 'KEY1234567',
        teamId: 'TEAM123456',
        topic: 'com.example.app',
        baseUrl,
        ca: certificate,
        timeoutMs: 600_000,
        maxConcurrent: 4,
      })
    const message = { to: 'ab'.repeat(32), subject: 'Hello', body: '', format: 'text' } as const
    return {
      provider: channelAt(server.origin),
      message,
      secrets: [key, key.split('\n')[1] ?? key, 'eyJ'],
      act(next) {
        how = next
      },
      actHttp(next) {
        how = next
      },
      taken: async () => taken,
      hanging: () => hanging,
      mostConnections: () => server.mostConnections,
      drained: server.drained,
      elsewhere: (host, port) => ({ provider: channelAt(`https://${host}:${port}`), message }),
      close: server.close,
    }
  },
  ROWS,
  { http: true, statusAlone: true },
)

function* forEver(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(16_384, ' ')
}
