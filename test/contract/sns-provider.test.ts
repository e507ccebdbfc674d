import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { expect, it, onTestFinished, test } from 'vitest'
import { SNS_ERRORS } from '../../adapters/channels/sns/errors.ts'
import { sns } from '../../adapters/channels/sns/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'correct-horse-battery-staple' }
const TO = '+4915112345678'
const NAMESPACE = 'http://sns.amazonaws.com/doc/2010-03-31/'

const xml = (status: number, body: string): ProviderReply => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body,
})
const idOf = (number: number) => `567910cd-659e-55d4-8ccb-5aaf${String(number).padStart(8, '0')}`
const created = (_: ReceivedRequest, number: number) =>
  xml(
    200,
    `<PublishResponse xmlns="${NAMESPACE}"><PublishResult><MessageId>${idOf(number)}</MessageId></PublishResult>` +
      '<ResponseMetadata><RequestId>d74b8436-ae13-5ab4-a9ff-ce54dfea72a0</RequestId></ResponseMetadata></PublishResponse>',
  )
const refusal = (status: number, code: string, message = 'No.') =>
  xml(
    status,
    `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message>` +
      '</Error><RequestId>9dd01905-5012-5f99-8663-4b3ecd0dfaef</RequestId></ErrorResponse>',
  )

/** Every row of the table; the reference says what each must mean. */
const EXPECTED: readonly (readonly [
  codes: string,
  status: number,
  kind: string,
  code: string,
  scope?: string,
])[] = [
  [
    'AuthorizationError AccessDenied AccessDeniedException InvalidClientTokenId UnrecognizedClient ' +
      'UnrecognizedClientException SignatureDoesNotMatch IncompleteSignature InvalidSecurity MissingAuthenticationToken ' +
      'ExpiredToken ExpiredTokenException OptInRequired KMSAccessDenied',
    403,
    'rejected',
    'provider_auth_failed',
    'account',
  ],
  ['RequestExpired NotAuthorized', 400, 'rejected', 'provider_auth_failed', 'account'],
  ['OptedOut', 400, 'rejected', 'unsubscribed', 'recipient'],
  [
    'Throttled Throttling ThrottlingException KMSThrottling RequestThrottled',
    429,
    'retry',
    'provider_rate_limited',
    'account',
  ],
  ['ServiceUnavailable', 503, 'retry', 'provider_unavailable', 'provider'],
  ['InternalError InternalFailure', 500, 'ambiguous', 'provider_unavailable'],
  ['EndpointDisabled NotFound', 400, 'rejected', 'provider_error', 'account'],
  [
    'InvalidParameter InvalidParameterValue ParameterValueInvalid Validation ValidationException ValidationError',
    400,
    'rejected',
    'provider_error',
    'message',
  ],
]

const WORDS: readonly (readonly [message: string, code: string, scope: string])[] = [
  [
    'Invalid parameter: PhoneNumber Reason: +1234 is not valid to publish to',
    'invalid_phone_number',
    'recipient',
  ],
  ['Phone number is opted out', 'unsubscribed', 'recipient'],
  ['The destination number is not verified in the SMS sandbox', 'blocked_recipient', 'recipient'],
  ['Invalid parameter: Message too long', 'message_too_large', 'message'],
  ['Invalid parameter: SenderId Reason: not registered', 'invalid_sender', 'account'],
]

const ROWS: readonly ProviderRow[] = [
  {
    row: 'a refusal that repeats what was signed',
    reply: refusal(403, 'SignatureDoesNotMatch', 'It should have been: $credentials'),
    outcome: { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
  },
  ...EXPECTED.flatMap(([codes, status, kind, code, scope]) =>
    codes.split(' ').map((aws) => ({
      row: `error ${aws}`,
      reply: refusal(status, aws),
      outcome: {
        kind: kind as 'rejected' | 'retry' | 'ambiguous',
        code,
        ...(scope === undefined ? { reason: 'No.' } : { scope, message: 'No.' }),
        providerCode: aws,
      },
    })),
  ),
  ...WORDS.map(([message, code, scope]) => ({
    row: message,
    reply: refusal(400, 'InvalidParameter', message),
    outcome: { kind: 'rejected' as const, code, scope, message, providerCode: 'InvalidParameter' },
  })),
  {
    row: 'a code that nobody knows',
    reply: refusal(400, 'BrandNew'),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: 'BrandNew' },
  },
  {
    row: 'a fault that nobody knows',
    reply: refusal(500, 'BrandNew'),
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: 'BrandNew' },
  },
  {
    row: 'a page of a gateway',
    reply: { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable' },
  },
]

function channelAt(baseUrl: string, more: Partial<Parameters<typeof sns>[0]> = {}) {
  return sns({ region: 'eu-central-1', credentials, baseUrl, maxConcurrent: 4, ...more })
}

const fieldsOf = ({ body }: ReceivedRequest) => Object.fromEntries(new URLSearchParams(body.toString('utf8')))

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [credentials.secretAccessKey],
      accept: created,
      aside: (request) =>
        fieldsOf(request).Action === 'GetSMSAttributes'
          ? xml(
              200,
              `<GetSMSAttributesResponse xmlns="${NAMESPACE}"><GetSMSAttributesResult><attributes/></GetSMSAttributesResult></GetSMSAttributesResponse>`,
            )
          : undefined,
      take: (request) => {
        const { PhoneNumber: to = '', Message: body = '' } = fieldsOf(request)
        return { to, body, id: null }
      },
      rows: ROWS,
      overloaded: refusal(429, 'Throttling'),
    }),
  ROWS,
  { http: true },
)

it('has a row for each code of its table', () => {
  const covered = EXPECTED.flatMap(([codes]) => codes.split(' '))
  expect([...covered].sort()).toEqual(Object.keys(SNS_ERRORS).sort())
})

async function start(more: Partial<Parameters<typeof sns>[0]> = {}) {
  const server = await providerServer({ accept: created, rows: ROWS })
  const channel = channelAt(server.url, more)
  const client = new SNSClient({ region: 'eu-central-1', credentials, endpoint: server.url, maxAttempts: 1 })
  onTestFinished(async () => {
    await channel.close?.()
    client.destroy()
    await server.close()
  })
  const send = (body = 'Grüße 🎉') =>
    channel.send({ to: TO, subject: null, body, format: 'text' }, sendContext())
  return { server, send, client }
}

it('asks as the client of AWS asks over its own connections', async () => {
  const { server, send, client } = await start({
    senderId: 'ACME',
    maxPriceUsd: 0.5,
    originationNumber: '+4930123456',
  })
  const outcome = await send()
  const text = (StringValue: string) => ({ DataType: 'String', StringValue })
  const { MessageId } = await client.send(
    new PublishCommand({
      PhoneNumber: TO,
      Message: 'Grüße 🎉',
      MessageAttributes: {
        'AWS.SNS.SMS.SMSType': text('Transactional'),
        'AWS.SNS.SMS.SenderID': text('ACME'),
        'AWS.MM.SMS.OriginationNumber': text('+4930123456'),
        'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: '0.5' },
      },
    }),
  )
  expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: idOf(1) })
  expect(MessageId).toBe(idOf(2))
  const [ours, theirs] = server.requests
  const shape = (request: ReceivedRequest | undefined) => ({
    method: request?.method,
    path: request?.path,
    host: request?.headers.host,
    type: request?.headers['content-type'],
    length: request?.headers['content-length'],
    signed: request?.headers.authorization?.replace(/Signature=.*/, ''),
    body: request?.body.toString('utf8'),
  })
  expect(shape(ours)).toEqual(shape(theirs))
})

it('repeats nothing by itself', async () => {
  const { server, send } = await start()
  server.act({ kind: 'answer', row: 'error InternalError' })
  expect((await send()).kind).toBe('ambiguous')
  expect(server.requests).toHaveLength(1)
})

it('keeps to itself what a function gave, where the refusal repeats what was signed', async () => {
  const sessionToken = `FwoGZXIvYXdzE${'+/x9='.repeat(40)}`
  const { server, send } = await start({ credentials: async () => ({ ...credentials, sessionToken }) })
  server.act({ kind: 'answer', row: 'a refusal that repeats what was signed' })
  const outcome = await send()
  expect(outcome).toMatchObject({ kind: 'rejected', message: expect.stringContaining('[secret]') })
  expect(JSON.stringify(outcome)).not.toContain(sessionToken.slice(0, 20))
})

it('says so when there are no credentials, and waits for none when the attempt is over', async () => {
  const none = await start({ credentials: () => Promise.reject(new Error('No role here.')) })
  expect(await none.send()).toMatchObject({
    kind: 'rejected',
    code: 'provider_auth_failed',
    scope: 'account',
    message: 'No role here.',
  })
  const channel = channelAt(none.server.url, { credentials: () => new Promise(() => {}) })
  onTestFinished(() => channel.close?.())
  const abort = new AbortController()
  const sending = channel.send(
    { to: TO, subject: null, body: 'x', format: 'text' },
    sendContext({ signal: abort.signal }),
  )
  abort.abort()
  expect((await sending).kind).toBe('retry')
  expect(none.server.requests).toEqual([])
})

it.each([
  ['region', { region: 'Frankfurt' }],
  ['senderId', { senderId: 'A sender' }],
  ['maxPriceUsd', { maxPriceUsd: 0 }],
  ['smsType', { smsType: 'Cheap' as never }],
])('a wrong option is named: %s', (option, wrong) => {
  expect(() => channelAt('https://sns.example', wrong)).toThrow(`"${option}"`)
})
