import { expect, it, onTestFinished, test } from 'vitest'
import { SLACK_WEBHOOK_ERRORS } from '../../adapters/channels/slack/errors.ts'
import { slackWebhook } from '../../adapters/channels/slack/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { type ProviderRow, providerServer } from '../../src/testing/channel/provider-server.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const PATH = '/services/T00000000/B00000000/correcthorsebatterystaple'
const TO = '#alerts'
const ok = () => ({ status: 200, body: 'ok' })

/** Every row of the table, with the status that Slack gives it. */
const EXPECTED: readonly (readonly [
  status: number,
  errors: string,
  kind: string,
  code: string,
  scope: string,
])[] = [
  [
    400,
    'invalid_payload no_text invalid_blocks too_many_attachments',
    'rejected',
    'invalid_content',
    'message',
  ],
  [400, 'user_not_found', 'rejected', 'channel_not_found', 'recipient'],
  [404, 'channel_not_found', 'rejected', 'channel_not_found', 'recipient'],
  [410, 'channel_is_archived', 'rejected', 'channel_archived', 'recipient'],
  [403, 'action_prohibited posting_to_general_channel_denied', 'rejected', 'posting_restricted', 'recipient'],
  [403, 'invalid_token team_disabled', 'rejected', 'invalid_slack_token', 'account'],
  [404, 'no_service no_service_id no_active_hooks no_team', 'rejected', 'invalid_slack_token', 'account'],
  [500, 'rollup_error', 'retry', 'provider_unavailable', 'provider'],
]

const ROWS: readonly ProviderRow[] = [
  ...EXPECTED.flatMap(([status, errors, kind, code, scope]) =>
    errors.split(' ').map((error) => ({
      row: error,
      reply: { status, body: error },
      outcome: { kind: kind as 'rejected' | 'retry', code, scope, providerCode: error },
    })),
  ),
  {
    row: 'an error that nobody knows',
    reply: { status: 400, body: 'brand_new' },
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: '400' },
  },
  {
    row: 'a fault without a name',
    reply: { status: 500, body: 'Oops' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable' },
  },
]

const channelAt = (base: string, more: Partial<Parameters<typeof slackWebhook>[0]> = {}) =>
  slackWebhook({ url: base + PATH, to: [TO, 'C0123456789'], maxConcurrent: 4, ...more })

providerContract(
  test,
  async () => {
    const harness = await httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: ['correcthorsebatterystaple'],
      accept: ok,
      take: ({ body }) => ({ to: TO, body: JSON.parse(body.toString('utf8')).text, id: null }),
      rows: ROWS,
    })
    // Slack is the only other host that its address may name.
    return {
      ...harness,
      elsewhere: (host, port) => (host === '127.0.0.1' ? harness.elsewhere(host, port) : null),
    }
  },
  ROWS,
  { http: true },
)

it('has a row for each error of its table', () => {
  const covered = EXPECTED.flatMap(([, errors]) => errors.split(' '))
  expect([...covered].sort()).toEqual(Object.keys(SLACK_WEBHOOK_ERRORS).sort())
})

it('posts text and blocks to its own address, and takes messages to its own place only', async () => {
  const server = await providerServer({ accept: ok })
  const channel = channelAt(server.url)
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  const blocks = [{ type: 'divider' }]
  const message = { to: TO, subject: 'ignored', body: 'Grüße', format: 'text', slack: { blocks } } as const
  expect(await channel.send(message, sendContext())).toEqual({ kind: 'accepted' })
  const [request] = server.taken
  expect(request?.path).toBe(PATH)
  expect(JSON.parse(request?.body.toString('utf8') ?? '')).toEqual({ text: 'Grüße', blocks })
  expect(['#alerts', 'C0123456789', '#general'].map((to) => channel.accepts?.(to))).toEqual([
    true,
    true,
    false,
  ])
})

it.each([
  ['url', { url: 'https://evil.example/services/T/B/x' }],
  ['url', { url: 'https://hooks.slack.com.evil.example/services/T/B/x' }],
  ['url', { url: 'http://hooks.slack.com/services/T/B/x' }],
  ['url', { url: 'https://hooks.slack.com/' }],
  ['url', { url: 'https://hooks.slack.com/triggers/T/1/x' }],
  ['url', { url: 'https://hooks.slack.com/workflows/T/A/1/x' }],
  ['to', { to: [] }],
])('a wrong option is named, and its value is not: %s', (option, wrong) => {
  const create = () => channelAt('https://hooks.slack.com', wrong)
  expect(create).toThrow(`"${option}"`)
  expect(create).not.toThrow(/services/)
})

it.each(['https://hooks.slack.com', 'https://hooks.slack-gov.com'])('%s is right', async (base) => {
  await channelAt(base).close?.()
})
