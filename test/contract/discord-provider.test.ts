import { expect, it, onTestFinished, test } from 'vitest'
import { DISCORD_ERRORS } from '../../adapters/channels/discord/errors.ts'
import { discord } from '../../adapters/channels/discord/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { type ProviderRow, providerServer } from '../../src/testing/channel/provider-server.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const TOKEN = 'correct-horse_battery-staple'
const PATH = `/api/webhooks/123456789012345678/${TOKEN}`
const TO = '#alerts'

const accepted = (number: number) => ({ status: 200, body: { id: `1${number}`, channel_id: '9' } })

const answered = (
  status: number,
  code: number,
  outcome: OutcomeRow['outcome'],
  more: { errors?: object; headers?: Record<string, string>; retry_after?: number; what?: string } = {},
): ProviderRow => {
  const { headers = {}, what = 'No.', ...rest } = more
  return {
    row: `${status} ${code} ${JSON.stringify(more)}`,
    reply: { status, headers, body: { code, message: what, ...rest } },
    outcome: {
      providerCode: String(code === 0 ? status : code),
      ...outcome,
    } as OutcomeRow['outcome'],
  }
}

const rejected = (code: string, scope: 'recipient' | 'message' | 'account' = 'recipient') =>
  ({ kind: 'rejected', code, scope }) as const
const badWebhook = rejected('provider_auth_failed', 'account')
const restricted = rejected('posting_restricted')
const badContent = rejected('invalid_content', 'message')
const tooLarge = rejected('message_too_large', 'message')
const slow = { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient' } as const
const throttled = { ...slow, scope: 'account' } as const
const down = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' } as const
const fault = (code: string, message: string) => ({ _errors: [{ code, message }] })

const ROWS: readonly ProviderRow[] = [
  answered(404, 10015, badWebhook),
  answered(401, 50027, badWebhook),
  answered(401, 40001, badWebhook),
  answered(401, 50014, badWebhook),
  answered(401, 0, badWebhook),
  answered(404, 10003, rejected('channel_not_found')),
  answered(400, 50083, rejected('channel_archived')),
  answered(403, 160005, restricted),
  answered(403, 50001, restricted),
  answered(403, 50013, restricted),
  answered(400, 40058, restricted),
  answered(400, 40067, restricted),
  answered(400, 50008, restricted),
  answered(400, 50024, restricted),
  answered(400, 220001, restricted),
  answered(400, 220003, restricted),
  answered(400, 220004, restricted),
  answered(400, 50095, rejected('region_not_permitted')),
  answered(400, 50006, badContent),
  answered(400, 50035, badContent),
  answered(
    400,
    50035,
    { ...badContent, message: 'Invalid Form Body; embeds.0.title: Must be 256 or fewer in length.' },
    {
      what: 'Invalid Form Body',
      errors: { embeds: { 0: { title: fault('BASE_TYPE_MAX_LENGTH', 'Must be 256 or fewer in length.') } } },
    },
  ),
  answered(
    400,
    50035,
    { ...tooLarge, message: 'No.; content: Must be 2000 or fewer in length.' },
    { errors: { content: fault('BASE_TYPE_MAX_LENGTH', 'Must be 2000 or fewer in length.') } },
  ),
  answered(400, 50109, badContent),
  answered(400, 220002, badContent),
  answered(400, 20009, rejected('content_rejected', 'message')),
  answered(400, 200000, rejected('content_rejected', 'message')),
  answered(400, 200001, rejected('content_rejected', 'message')),
  answered(400, 240000, rejected('content_rejected', 'message')),
  answered(413, 40005, tooLarge),
  answered(400, 999_999, rejected('provider_error', 'message')),
  answered(404, 0, rejected('provider_error', 'account')),
  answered(403, 40333, rejected('provider_error', 'account')),
  answered(429, 20016, { ...slow, retryAfterMs: 5_000 }, { retry_after: 5 }),
  answered(429, 20028, slow),
  answered(429, 20029, slow),
  answered(403, 40004, down),
  answered(403, 40006, down),
  answered(503, 130000, down),
  answered(
    429,
    0,
    { ...throttled, retryAfterMs: 650 },
    { retry_after: 0.65, headers: { 'retry-after': '1' } },
  ),
  answered(429, 0, throttled, { headers: { 'x-ratelimit-scope': 'global' } }),
  answered(429, 0, slow, { headers: { 'x-ratelimit-scope': 'shared' } }),
  answered(403, 50013, { ...restricted, message: 'Not [secret]!' }, { what: `Not ${TOKEN}!` }),
  {
    row: 'a client that Cloudflare has barred',
    reply: { status: 429, body: 'error code: 1015' },
    outcome: { ...throttled, providerCode: '429' },
  },
  {
    row: 'no gateway',
    reply: { status: 502, body: 'Bad Gateway' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable' },
  },
  {
    row: 'an answer before the message was checked',
    reply: { status: 204 },
    outcome: { kind: 'ambiguous' },
  },
]

const providerAt = (base: string, more: Partial<Parameters<typeof discord>[0]> = {}) =>
  discord({ url: base + PATH, to: [TO, '123456789012345678'], maxConcurrent: 4, ...more })

providerContract(
  test,
  async () => {
    const harness = await httpProviderHarness({
      provider: (url) => providerAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN],
      accept: (_, number) => accepted(number),
      aside: ({ method }) => (method === 'GET' ? { status: 200, body: { id: '1', type: 1 } } : undefined),
      overloaded: { status: 429, body: { message: 'You are being rate limited.', global: false } },
      take: ({ body }) => ({ to: TO, body: JSON.parse(body.toString('utf8')).content, id: null }),
      rows: ROWS,
    })
    // Discord is the only other host that its address may name.
    return {
      ...harness,
      elsewhere: (host, port) => (host === '127.0.0.1' ? harness.elsewhere(host, port) : null),
    }
  },
  ROWS,
  { http: true },
)

it('has a row for each error of its table', () => {
  const covered = new Set(ROWS.map(({ row }) => row.split(' ')[1]))
  expect(Object.keys(DISCORD_ERRORS).filter((code) => !covered.has(code))).toEqual([])
})

it('posts text, and what a message carries, and mentions only who is named', async () => {
  const server = await providerServer({ accept: (_, number) => accepted(number) })
  const channel = providerAt(server.url)
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  const plain = { to: TO, subject: 'ignored', body: 'Grüße @everyone', format: 'text' } as const
  expect(await channel.send(plain, sendContext())).toEqual({ kind: 'accepted', providerMessageId: '11' })
  const embeds = [{ title: 'Order 1', color: 5 }]
  const parts = {
    embeds,
    username: 'Shop',
    avatarUrl: 'https://example.org/a.png',
    threadId: '223456789012345678',
    silent: true,
    suppressEmbeds: true,
    mentions: { users: ['323456789012345678'], roles: ['423456789012345678'] },
  }
  await channel.send({ ...plain, discord: parts }, sendContext())
  expect(server.taken.map(({ path, body }) => [path, JSON.parse(body.toString('utf8'))])).toEqual([
    [`${PATH}?wait=true`, { content: 'Grüße @everyone', allowed_mentions: { parse: [] } }],
    [
      `${PATH}?wait=true&thread_id=223456789012345678`,
      {
        content: 'Grüße @everyone',
        embeds,
        username: 'Shop',
        avatar_url: 'https://example.org/a.png',
        flags: 4_100,
        allowed_mentions: { parse: [], users: ['323456789012345678'], roles: ['423456789012345678'] },
      },
    ],
  ])
})

it('takes messages to its own channel only', async () => {
  const channel = providerAt('https://discord.com', { to: '#Alerts' })
  expect(['#alerts', '#ALERTS', '#general'].map((to) => channel.accepts?.(to))).toEqual([true, true, false])
  await channel.close?.()
})

it.each([
  ['url', { url: `https://evil.example${PATH}` }],
  ['url', { url: `https://discord.com.evil.example${PATH}` }],
  ['url', { url: `http://discord.com${PATH}` }],
  ['url', { url: `https://discord.com${PATH}?wait=false` }],
  ['url', { url: `https://discord.com${PATH}/github` }],
  ['url', { url: `https://user:pass@discord.com${PATH}` }],
  ['url', { url: 'https://discord.com/api/webhooks/1/short' }],
  ['to', { to: [] }],
  ['to', { to: 'alerts' }],
])('a wrong option is named, and its value is not: %s', (option, wrong) => {
  const create = () => providerAt('https://discord.com', wrong)
  expect(create).toThrow(`"${option}"`)
  expect(create).not.toThrow(/correct-horse/)
})

it.each([
  'https://discord.com',
  'https://canary.discord.com',
  'https://ptb.discord.com',
  'https://discordapp.com',
])('%s is right', async (base) => {
  await providerAt(base).close?.()
  await providerAt(base, { url: base + PATH.replace('/api/', '/api/v10/') }).close?.()
})
