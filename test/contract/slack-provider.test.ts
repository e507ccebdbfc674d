import { WebClient } from '@slack/web-api'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { SLACK_ERRORS } from '../../adapters/channels/slack/errors.ts'
import { slack } from '../../adapters/channels/slack/send.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const TOKEN = 'xoxb-correct-horse-battery'
const TO = 'C0123456789'

interface Fields {
  readonly channel: string
  readonly text: string
  readonly metadata: { readonly event_payload: { readonly notification_id: string } }
}

/** Our JSON, or the form of Slack's own client, whose members that are no text are JSON. */
function fieldsOf({ headers, body }: ReceivedRequest): Fields {
  const text = body.toString('utf8')
  if (headers['content-type']?.startsWith('application/json')) return JSON.parse(text)
  const given = [...new URLSearchParams(text)]
  const members = given.map(([name, value]) => [name, NO_TEXT.has(name) ? JSON.parse(value) : value])
  return Object.fromEntries(members)
}
const NO_TEXT = new Set(['blocks', 'metadata', 'unfurl_links', 'unfurl_media'])
const tsOf = (number: number) => `1763726400.${String(number).padStart(6, '0')}`
const created = (request: ReceivedRequest, number: number): ProviderReply => ({
  status: 200,
  body: {
    ok: true,
    channel: fieldsOf(request).channel,
    ts: tsOf(number),
    message: { type: 'message', subtype: 'bot_message', text: fieldsOf(request).text, ts: tsOf(number) },
  },
})
const refusal = (error: string, more: object = {}): ProviderReply => ({
  status: 200,
  body: { ok: false, error, ...more },
})
const authTest = (request: ReceivedRequest): ProviderReply | undefined =>
  request.path === '/auth.test'
    ? { status: 200, body: { ok: true, user_id: 'U1', team_id: 'T1' } }
    : undefined

/** Every row of the table; the reference says what each must mean. */
const EXPECTED: readonly (readonly [errors: string, kind: string, code: string, scope?: string])[] = [
  ['channel_not_found team_not_found user_not_found', 'rejected', 'channel_not_found', 'recipient'],
  ['not_in_channel no_permission', 'rejected', 'bot_not_in_channel', 'recipient'],
  ['is_archived', 'rejected', 'channel_archived', 'recipient'],
  [
    'invalid_auth not_authed token_revoked token_expired account_inactive not_allowed_token_type missing_scope ' +
      'team_access_not_granted metadata_must_be_sent_from_app',
    'rejected',
    'invalid_slack_token',
    'account',
  ],
  ['deprecated_endpoint method_deprecated', 'rejected', 'provider_error', 'account'],
  ['org_login_required', 'retry', 'provider_unavailable', 'account'],
  [
    'ekm_access_denied app_access_restricted enterprise_is_restricted accesslimited two_factor_setup_required',
    'rejected',
    'posting_restricted',
    'account',
  ],
  [
    'access_denied restricted_action messages_tab_disabled cannot_reply_to_message send_on_behalf_not_allowed',
    'rejected',
    'posting_restricted',
    'recipient',
  ],
  [
    'msg_too_long msg_blocks_too_long attachment_payload_limit_exceeded too_many_attachments metadata_too_large',
    'rejected',
    'message_too_large',
    'message',
  ],
  [
    'no_text invalid_blocks invalid_blocks_format invalid_charset invalid_form_data invalid_post_type ' +
      'missing_post_type markdown_text_conflict',
    'rejected',
    'invalid_content',
    'message',
  ],
  ['ratelimited rate_limited message_limit_exceeded', 'retry', 'provider_rate_limited', 'account'],
  ['service_unavailable request_timeout team_added_to_org', 'retry', 'provider_unavailable', 'provider'],
  ['internal_error fatal_error', 'ambiguous', 'provider_unavailable'],
]
const FAMILIES: typeof EXPECTED = [
  [
    'restricted_action_read_only_channel restricted_action_thread_only_channel slack_connect_file_link_sharing_blocked',
    'rejected',
    'posting_restricted',
    'recipient',
  ],
  [
    'invalid_metadata_format invalid_metadata_schema invalid_arguments invalid_arg_name',
    'rejected',
    'invalid_content',
    'message',
  ],
]

const ROWS: readonly ProviderRow[] = [
  ...[...EXPECTED, ...FAMILIES].flatMap(([errors, kind, code, scope]) =>
    errors.split(' ').map((error) => ({
      row: error,
      reply: refusal(error),
      outcome: {
        kind: kind as 'rejected' | 'retry' | 'ambiguous',
        code,
        ...(scope === undefined ? {} : { scope }),
        providerCode: error,
      },
    })),
  ),
  {
    row: 'an error that nobody knows',
    reply: refusal('brand_new'),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: 'brand_new' },
  },
  {
    row: 'what is wrong with the blocks',
    reply: refusal('invalid_blocks', { response_metadata: { messages: ['[ERROR] no more than 50 items'] } }),
    outcome: { kind: 'rejected', message: 'Slack answered invalid_blocks; [ERROR] no more than 50 items' },
  },
  {
    row: 'which scope is missing',
    reply: refusal('missing_scope', { needed: 'chat:write', provided: 'users:read' }),
    outcome: { kind: 'rejected', message: 'Slack answered missing_scope; needed: chat:write' },
  },
  {
    row: 'a limit of the plan: not soon',
    reply: refusal('message_limit_exceeded'),
    outcome: { kind: 'retry', retryAfterMs: 3_600_000 },
  },
  {
    row: 'a rate limit with its pause',
    reply: { ...refusal('ratelimited'), status: 429, headers: { 'retry-after': '30' } },
    outcome: { kind: 'retry', code: 'provider_rate_limited', scope: 'account', retryAfterMs: 30_000 },
  },
  {
    row: 'the token, repeated',
    reply: refusal('invalid_auth', { response_metadata: { messages: ['not $credentials'] } }),
    outcome: { kind: 'rejected', message: 'Slack answered invalid_auth; not Bearer [secret]' },
  },
  {
    row: 'a fault of a gateway',
    reply: { status: 502, body: '<html>Bad gateway</html>' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: '502' },
  },
  {
    row: 'an outage that says so',
    reply: { status: 503, body: 'upstream' },
    outcome: { kind: 'retry', code: 'provider_unavailable', scope: 'provider' },
  },
  {
    row: 'a success without an id',
    reply: { status: 200, body: { ok: true } },
    outcome: { kind: 'ambiguous', code: 'provider_error' },
  },
]

function channelAt(baseUrl: string, more: Partial<Parameters<typeof slack>[0]> = {}) {
  return slack({ token: TOKEN, baseUrl, maxConcurrent: 4, ...more })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN],
      accept: created,
      aside: authTest,
      take: (request) => {
        const { channel, text, metadata } = fieldsOf(request)
        return { to: channel, body: text, id: metadata.event_payload.notification_id }
      },
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

it('has a row for each error of its table', () => {
  const covered = EXPECTED.flatMap(([errors]) => errors.split(' '))
  expect([...covered].sort()).toEqual(Object.keys(SLACK_ERRORS).sort())
})

async function start(more: Partial<Parameters<typeof slack>[0]> = {}) {
  const server = await providerServer({ accept: created, rows: ROWS })
  const channel = channelAt(server.url, more)
  const client = new WebClient(TOKEN, {
    slackApiUrl: `${server.url}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  })
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  const send = (message: Partial<Message> = {}) =>
    channel.send({ to: TO, subject: null, body: 'Grüße 🎉', format: 'text', ...message }, sendContext())
  return { server, client, channel, send }
}

const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: '*Grüße* 🎉' } }]

it("asks as Slack's own client asks over its own connections", async () => {
  const { server, client, send } = await start({ unfurl: false })
  const outcome = await send({ slack: { blocks } })
  const posted = await client.chat.postMessage({
    channel: TO,
    text: 'Grüße 🎉',
    blocks,
    unfurl_links: false,
    unfurl_media: false,
    metadata: {
      event_type: 'carillon_notification',
      event_payload: { notification_id: sendContext().notificationId },
    },
  })
  expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: `${TO}:${tsOf(1)}` })
  expect(posted.ts).toBe(tsOf(2))
  const [ours, theirs] = server.requests
  const read = (request: ReceivedRequest | undefined) => ({
    method: request?.method,
    path: request?.path,
    authorization: request?.headers.authorization,
    fields: request && fieldsOf(request),
  })
  expect(read(ours)).toEqual(read(theirs))
})

it("answers so that Slack's own client sees the same errors", async () => {
  const { server, client } = await start()
  for (const row of ['channel_not_found', 'invalid_auth', 'is_archived']) {
    server.act({ kind: 'answer', row })
    await expect(client.chat.postMessage({ channel: TO, text: 'x' })).rejects.toMatchObject({
      data: { error: row },
    })
  }
})

it('repeats nothing by itself, and carries blocks only where there are some', async () => {
  const { server, send } = await start()
  await send()
  expect(server.requests[0]?.body.toString()).not.toContain('blocks')
  server.act({ kind: 'overloaded', retryAfter: '1' })
  expect((await send()).kind).toBe('retry')
  server.act({ kind: 'break' })
  expect((await send()).kind).toBe('ambiguous')
  expect(server.requests).toHaveLength(3)
})

it('refuses a text that Slack would cut off', async () => {
  const { server, send } = await start()
  expect(await send({ body: 'a'.repeat(40_001) })).toMatchObject({
    kind: 'rejected',
    code: 'message_too_large',
    scope: 'message',
  })
  expect((await send({ body: 'a'.repeat(40_000) })).kind).toBe('accepted')
  expect(server.requests).toHaveLength(1)
})

describe('a check', () => {
  it.each([
    ['invalid_auth', 'invalid_slack_token'],
    ['account_inactive', 'invalid_slack_token'],
  ])('says that Slack refuses the token: %s', async (row, code) => {
    const { server, channel } = await start()
    server.act({ kind: 'answer', row })
    await expect(channel.check?.()).rejects.toMatchObject({ code })
  })
})

it.each([
  ['token', { token: '' }],
  ['baseUrl', { baseUrl: 'http://slack.com/api' }],
  ['receipts.secret', { receipts: { secret: [' '] } }],
])('a wrong option is named: %s', (option, wrong) => {
  expect(() => channelAt('https://slack.com/api', wrong)).toThrow(`"${option}`)
})
