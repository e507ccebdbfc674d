import { expect, it, onTestFinished, test } from 'vitest'
import { TELEGRAM_ERRORS } from '../../adapters/channels/telegram/errors.ts'
import { telegram } from '../../adapters/channels/telegram/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { type ProviderRow, providerServer } from '../../src/testing/channel/provider-server.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const SECRET = 'AAcorrect-horse_battery-staple'
const TOKEN = `123456789:${SECRET}`
const TO = '-1001234567890'

const accepted = (number: number) => ({
  status: 200,
  body: { ok: true, result: { message_id: number, chat: { id: Number(TO), type: 'supergroup' } } },
})

const answered = (
  status: number,
  description: string,
  outcome: OutcomeRow['outcome'],
  parameters?: object,
): ProviderRow => ({
  row: `${status} ${description}`,
  reply: { status, body: { ok: false, error_code: status, description, parameters } },
  outcome: { ...outcome, ...(outcome.kind === 'ambiguous' ? {} : { providerCode: String(status) }) },
})

const rejected = (code: string, scope = 'recipient') => ({ kind: 'rejected', code, scope }) as const
const gone = rejected('invalid_recipient')
const restricted = rejected('posting_restricted')
const outside = rejected('bot_not_in_channel')
const badContent = rejected('invalid_content', 'message')
const credentials = rejected('provider_auth_failed', 'account')
const throttled = { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient' } as const
const faulty = { kind: 'ambiguous', code: 'provider_unavailable' } as const

const ROWS: readonly ProviderRow[] = [
  answered(400, 'Bad Request: chat not found', gone),
  answered(400, 'Bad Request: private chat not found', gone),
  answered(400, 'Bad Request: user not found', gone),
  answered(400, 'Bad Request: PEER_ID_INVALID', gone),
  answered(400, 'Bad Request: chat_id is empty', gone),
  answered(400, 'Bad Request: chat identifier must be a valid Integer', gone),
  answered(
    400,
    'Bad Request: group chat was upgraded to a supergroup chat',
    {
      ...gone,
      message: 'Bad Request: group chat was upgraded to a supergroup chat; its id is now -1009876543210',
    },
    { migrate_to_chat_id: -1009876543210 },
  ),
  answered(400, 'Bad Request: group chat was migrated to a supergroup chat', gone),
  answered(400, 'Bad Request: group is deactivated', gone),
  answered(400, 'Bad Request: chat is deactivated', gone),
  answered(403, 'Forbidden: the group chat was deleted', gone),
  answered(403, 'Forbidden: user is deactivated', gone),
  answered(400, 'Bad Request: message thread not found', rejected('channel_not_found')),
  answered(400, 'Bad Request: TOPIC_DELETED', rejected('channel_not_found')),
  answered(400, 'Bad Request: TOPIC_CLOSED', restricted),
  answered(400, 'Bad Request: need administrator rights in the channel chat', restricted),
  answered(400, 'Bad Request: have no write access to the chat', restricted),
  answered(400, 'Bad Request: CHAT_ADMIN_REQUIRED', restricted),
  answered(400, 'Bad Request: CHAT_FORBIDDEN', restricted),
  answered(400, 'Bad Request: CHAT_RESTRICTED', restricted),
  answered(400, 'Bad Request: CHAT_SEND_PLAIN_FORBIDDEN', restricted),
  answered(400, 'Bad Request: CHAT_GUEST_SEND_FORBIDDEN', restricted),
  answered(400, 'Bad Request: USER_BANNED_IN_CHANNEL', restricted),
  answered(400, 'Bad Request: ALLOW_PAYMENT_REQUIRED_10', restricted),
  answered(403, 'Forbidden: PRIVACY_PREMIUM_REQUIRED', restricted),
  answered(403, 'Forbidden: USER_RESTRICTED', rejected('provider_suspended', 'account')),
  answered(400, 'Bad Request: have no rights to send a message', restricted),
  answered(400, 'Bad Request: not enough rights to send text messages to the chat', restricted),
  answered(400, 'Bad Request: CHAT_WRITE_FORBIDDEN', restricted),
  answered(400, 'Bad Request: CHANNEL_PRIVATE', restricted),
  answered(403, 'Forbidden: bot was blocked by the user', rejected('blocked_recipient')),
  answered(403, "Forbidden: bot can't initiate conversation with a user", rejected('recipient_unreachable')),
  answered(403, "Forbidden: bot can't send messages to bots", rejected('recipient_unreachable')),
  answered(403, 'Forbidden: bot was kicked from the supergroup chat', outside),
  answered(403, 'Forbidden: bot is not a member of the channel chat', outside),
  answered(403, 'Forbidden: brand new', restricted),
  answered(400, 'Bad Request: message text is empty', badContent),
  answered(400, "Bad Request: can't parse entities: unsupported start tag", badContent),
  answered(400, 'Bad Request: reply markup is too long', badContent),
  // Its words are the caller's, and decide nothing.
  answered(400, "Bad Request: inline keyboard button URL 'tg://chat not found' is invalid", badContent),
  answered(400, 'Bad Request: BUTTON_URL_INVALID', badContent),
  answered(400, 'Bad Request: text is too long', rejected('message_too_large', 'message')),
  answered(400, 'Bad Request: message is too long', rejected('message_too_large', 'message')),
  answered(400, 'Bad Request: FROZEN_METHOD_INVALID', rejected('provider_suspended', 'account')),
  answered(400, 'Bad Request: brand new', rejected('provider_error', 'message')),
  answered(401, 'Unauthorized', credentials),
  answered(404, 'Not Found', credentials),
  answered(404, `Not Found: /bot${TOKEN}/sendMessage`, {
    ...credentials,
    message: 'Not Found: /bot[secret]/sendMessage',
  }),
  answered(
    429,
    'Too Many Requests: retry after 7',
    { ...throttled, retryAfterMs: 7_000 },
    { retry_after: 7 },
  ),
  answered(500, 'Internal Server Error: restart', faulty),
  answered(500, "Internal Server Error: sent message was immediately deleted and can't be returned", faulty),
  {
    row: 'a path that is not of the Bot API',
    reply: { status: 404, body: '<html>' },
    outcome: { ...rejected('provider_error', 'account'), providerCode: '404' },
  },
  {
    row: 'maintenance',
    reply: { status: 503 },
    outcome: { kind: 'retry', code: 'provider_unavailable', scope: 'provider' },
  },
]

const providerAt = (baseUrl: string) =>
  telegram({ token: TOKEN, baseUrl, maxConcurrent: 4, receipts: { secret: SECRET } })

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: providerAt,
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN, SECRET],
      accept: (_, number) => accepted(number),
      aside: ({ path }) =>
        path.endsWith('/getMe') ? { status: 200, body: { ok: true, result: { id: 1 } } } : undefined,
      overloaded: {
        status: 429,
        body: { ok: false, error_code: 429, description: 'Too Many Requests' },
      },
      take({ path, body }) {
        expect(path).toBe(`/bot${TOKEN}/sendMessage`)
        const message = JSON.parse(body.toString('utf8'))
        return { to: message.chat_id, body: message.text, id: null }
      },
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

it('has a row for each error of its table', () => {
  const seen = ROWS.map(({ row }) => row.toLowerCase())
  const missing = Object.keys(TELEGRAM_ERRORS).filter(
    (beginning) => !seen.some((row) => row.includes(`: ${beginning}`)),
  )
  expect(missing).toEqual([])
})

it('posts plain text, and what a message carries, as the Bot API names it', async () => {
  const server = await providerServer({ accept: (_, number) => accepted(number) })
  const channel = providerAt(server.url)
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  const plain = { to: '@news', subject: 'ignored', body: '<b>Grüße</b> *1*', format: 'text' } as const
  expect(await channel.send(plain, sendContext())).toEqual({
    kind: 'accepted',
    providerMessageId: `${TO}:1`,
  })
  const buttons = [[{ text: 'Open', url: 'https://example.org/' }]]
  const parts = { silent: true, linkPreview: false, protect: true, threadId: 3, replyTo: 4, buttons }
  await channel.send({ ...plain, telegram: parts }, sendContext())
  expect(server.taken.map(({ body }) => JSON.parse(body.toString('utf8')))).toEqual([
    { chat_id: '@news', text: '<b>Grüße</b> *1*' },
    {
      chat_id: '@news',
      text: '<b>Grüße</b> *1*',
      disable_notification: true,
      protect_content: true,
      message_thread_id: 3,
      link_preview_options: { is_disabled: true },
      reply_parameters: { message_id: 4, allow_sending_without_reply: true },
      reply_markup: { inline_keyboard: buttons },
    },
  ])
})

it.each([
  ['no colon', 'abc'],
  ['a path', `1:${SECRET}/../getMe`],
  ['a query', `1:${SECRET}?`],
  ['a short secret', '1:abc'],
])('a token that is none is refused, and not repeated: %s', (_, token) => {
  const create = () => telegram({ token })
  expect(create).toThrow('"token"')
  expect(create).not.toThrow(token)
})
