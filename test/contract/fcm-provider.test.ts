import { test } from 'vitest'
import { fcm } from '../../adapters/channels/fcm/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import type { ProviderReply, ProviderRow } from '../../src/testing/channel/provider-server.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import {
  FCM_PATH,
  FCM_TOKEN,
  fcmCode,
  fcmError,
  fcmMessage,
  testAccount,
  tokenReply,
} from '../support/fcm-server.ts'

type Expected = OutcomeRow['outcome']

/** As long as Google's. */
const ACCESS_TOKEN = `ya29.${'correct-horse-'.repeat(60)}`
const auth: Expected = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
const token: Expected = { kind: 'rejected', code: 'invalid_device_token', scope: 'recipient' }
const content: Expected = { kind: 'rejected', code: 'invalid_content', scope: 'message' }
const large: Expected = { kind: 'rejected', code: 'message_too_large', scope: 'message' }
const outage: Expected = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }
const limited: Expected = {
  kind: 'retry',
  code: 'provider_rate_limited',
  scope: 'account',
  retryAfterMs: 60_000,
}

const row = (name: string, reply: ProviderReply, outcome: Expected): ProviderRow => ({
  row: name,
  reply,
  outcome,
})
const badRequest = (field: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'It is wrong.' }],
})
const quota = (subject: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ subject, description: 'Message rate exceeded.' }],
})

/** `google.firebase.fcm.v1.ErrorCode`, whole, then Google's general codes, then what is neither. */
const ROWS: readonly ProviderRow[] = [
  row(
    'UNREGISTERED',
    fcmError(404, 'NOT_FOUND', 'Requested entity was not found.', fcmCode('UNREGISTERED')),
    { kind: 'rejected', code: 'device_unregistered', scope: 'recipient', providerCode: 'UNREGISTERED' },
  ),
  row(
    'SENDER_ID_MISMATCH',
    fcmError(403, 'PERMISSION_DENIED', 'SenderId mismatch', fcmCode('SENDER_ID_MISMATCH')),
    { kind: 'rejected', code: 'topic_mismatch', scope: 'recipient' },
  ),
  row(
    'INVALID_ARGUMENT: the token',
    fcmError(
      400,
      'INVALID_ARGUMENT',
      'The registration token is not a valid FCM registration token',
      fcmCode('INVALID_ARGUMENT'),
    ),
    token,
  ),
  row(
    'INVALID_ARGUMENT: says no more',
    fcmError(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.', fcmCode('INVALID_ARGUMENT')),
    token,
  ),
  row(
    'INVALID_ARGUMENT: the field of the token',
    fcmError(400, 'INVALID_ARGUMENT', 'Invalid registration', badRequest('message.token')),
    token,
  ),
  row(
    'INVALID_ARGUMENT: another field',
    fcmError(
      400,
      'INVALID_ARGUMENT',
      "Invalid value at 'message.data[0].value'",
      badRequest('message.data[0].value'),
    ),
    content,
  ),
  row(
    'INVALID_ARGUMENT: a key of the data',
    fcmError(400, 'INVALID_ARGUMENT', 'Invalid data payload key: from', fcmCode('INVALID_ARGUMENT')),
    content,
  ),
  row(
    'INVALID_ARGUMENT without details',
    fcmError(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.'),
    content,
  ),
  row(
    'INVALID_ARGUMENT: too large',
    fcmError(
      400,
      'INVALID_ARGUMENT',
      'Message is too large. The maximum is 4K (4096 bytes).',
      fcmCode('INVALID_ARGUMENT'),
    ),
    large,
  ),
  row(
    'INVALID_ARGUMENT: too big',
    fcmError(400, 'INVALID_ARGUMENT', 'Android message is too big', fcmCode('INVALID_ARGUMENT')),
    large,
  ),
  row(
    'QUOTA_EXCEEDED of the project',
    fcmError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', fcmCode('QUOTA_EXCEEDED'), quota('project:demo')),
    limited,
  ),
  row(
    'QUOTA_EXCEEDED of one device',
    fcmError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', fcmCode('QUOTA_EXCEEDED'), quota('device:dQw4')),
    { ...limited, scope: 'recipient' },
  ),
  row(
    'RESOURCE_EXHAUSTED, with a time',
    {
      ...fcmError(429, 'RESOURCE_EXHAUSTED', "Quota exceeded for quota metric 'Send requests'"),
      headers: { 'retry-after': '120' },
    },
    { ...limited, retryAfterMs: 120_000 },
  ),
  row(
    'UNAVAILABLE, with a time',
    {
      ...fcmError(503, 'UNAVAILABLE', 'The service is currently unavailable.', fcmCode('UNAVAILABLE')),
      headers: { 'retry-after': '30' },
    },
    { ...outage, retryAfterMs: 30_000 },
  ),
  row('INTERNAL', fcmError(500, 'INTERNAL', 'Internal error encountered.', fcmCode('INTERNAL')), outage),
  row(
    'THIRD_PARTY_AUTH_ERROR',
    fcmError(
      401,
      'UNAUTHENTICATED',
      'Auth error from APNS or Web Push Service',
      fcmCode('THIRD_PARTY_AUTH_ERROR'),
    ),
    { ...auth, kind: 'retry', scope: 'recipient' },
  ),
  row(
    'APNS_AUTH_ERROR',
    fcmError(401, 'UNAUTHENTICATED', 'Auth error from APNS', fcmCode('APNS_AUTH_ERROR')),
    { ...auth, kind: 'retry', scope: 'recipient' },
  ),
  row('UNSPECIFIED_ERROR', fcmError(400, 'INVALID_ARGUMENT', 'Unspecified.', fcmCode('UNSPECIFIED_ERROR')), {
    kind: 'rejected',
    code: 'provider_error',
    scope: 'message',
    providerCode: 'UNSPECIFIED_ERROR',
  }),
  row(
    'UNAUTHENTICATED, repeating the credentials',
    fcmError(401, 'UNAUTHENTICATED', 'Invalid authentication credentials: $credentials'),
    { ...auth, kind: 'retry' },
  ),
  row(
    'PERMISSION_DENIED: of the account, not of the token',
    fcmError(403, 'PERMISSION_DENIED', "Permission 'cloudmessaging.messages.create' denied"),
    auth,
  ),
  row(
    'NOT_FOUND: the project, not the token',
    fcmError(404, 'NOT_FOUND', 'Requested entity was not found.'),
    { kind: 'rejected', code: 'provider_error', scope: 'account' },
  ),
  row('UNAVAILABLE without details', fcmError(503, 'UNAVAILABLE', 'Backend unavailable.'), outage),
  row('INTERNAL without details', fcmError(500, 'INTERNAL', 'Internal error encountered.'), outage),
  row('502 of a proxy', { status: 502, body: '<html>' }, { kind: 'ambiguous', providerCode: '502' }),
  row('200 without a name', { status: 200, body: {} }, { kind: 'ambiguous' }),
  row(
    '404 that is not JSON',
    { status: 404, body: 'Not found' },
    { kind: 'rejected', code: 'provider_error', scope: 'account' },
  ),
]

providerContract(
  test,
  () => {
    const account = { current: testAccount('http://127.0.0.1:1') }
    return httpProviderHarness({
      rows: ROWS,
      // "The server is overloaded"; what is refused for its rate waits a minute where no time is named.
      overloaded: fcmError(503, 'UNAVAILABLE', 'The server is overloaded.'),
      accept: (_, number) => ({ status: 200, body: { name: `projects/demo-project/messages/0:${number}` } }),
      aside: ({ path }) => (path === FCM_PATH ? undefined : tokenReply(ACCESS_TOKEN)),
      provider(url) {
        account.current = testAccount(url)
        return fcm({
          serviceAccount: account.current.file,
          baseUrl: url,
          maxConcurrent: 4,
          timeoutMs: 60_000,
        })
      },
      message: { to: FCM_TOKEN, subject: 'Hello', body: '', format: 'text' },
      secrets: ['correct-horse', 'PRIVATE KEY', 'eyJ'],
      take(request) {
        const { token: to, notification, android } = fcmMessage(request)
        return { to, body: notification?.body ?? '', id: android?.notification?.tag ?? null }
      },
    })
  },
  ROWS,
  { http: true },
)
