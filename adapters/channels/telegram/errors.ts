import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  hintOf,
  member,
  type ProviderAnswer,
  refuse,
  textMember,
} from '../kit/http/provider-answer.ts'

const gone: Classification = ['rejected', 'invalid_recipient', 'recipient']
const restricted: Classification = ['rejected', 'posting_restricted', 'recipient']
const outside: Classification = ['rejected', 'bot_not_in_channel', 'recipient']
const unreachable: Classification = ['rejected', 'recipient_unreachable', 'recipient']
const badContent: Classification = ['rejected', 'invalid_content', 'message']
const tooLarge: Classification = ['rejected', 'message_too_large', 'message']

/**
 * Start of error descriptions in lower case, after the name of the status (`Bad Request: `). Only the text identifies
 * an error: it comes from `telegram-bot-api/Client.cpp`, or from Telegram itself.
 *
 * @internal exported for tests
 */
export const TELEGRAM_ERRORS: Readonly<Record<string, Classification>> = {
  'chat not found': gone,
  'private chat not found': gone,
  'user not found': gone,
  peer_id_invalid: gone,
  'chat_id is empty': gone,
  'chat identifier must be': gone,
  'group chat was upgraded to a supergroup': gone,
  'group chat was migrated to a supergroup': gone,
  'group is deactivated': gone,
  'chat is deactivated': gone,
  'the group chat was deleted': gone,
  'user is deactivated': gone,

  'message thread not found': ['rejected', 'channel_not_found', 'recipient'],
  topic_deleted: ['rejected', 'channel_not_found', 'recipient'],
  topic_closed: restricted,
  'have no rights to send': restricted,
  'have no write access': restricted,
  'not enough rights': restricted,
  'need administrator rights': restricted,
  chat_admin_required: restricted,
  chat_write_forbidden: restricted,
  chat_forbidden: restricted,
  chat_restricted: restricted,
  // CHAT_SEND_PLAIN_FORBIDDEN and others, by the kind of message.
  chat_send_: restricted,
  chat_guest_send_forbidden: restricted,
  user_banned_in_channel: restricted,
  user_restricted: ['rejected', 'provider_suspended', 'account'],
  channel_private: restricted,
  // The recipient takes messages only for a payment, or from Premium accounts.
  allow_payment_required: restricted,
  privacy_premium_required: restricted,

  'bot was blocked by the user': ['rejected', 'blocked_recipient', 'recipient'],
  "bot can't initiate conversation": unreachable,
  "bot can't send messages to bots": unreachable,
  'bot was kicked': outside,
  'bot is not a member': outside,

  'message text is empty': badContent,
  "can't parse": badContent,
  'reply markup is too long': badContent,
  'inline keyboard button': badContent,
  button_url_invalid: badContent,
  'text is too long': tooLarge,
  'message is too long': tooLarge,

  frozen_method_invalid: ['rejected', 'provider_suspended', 'account'],
}

/**
 * The outcome of an answer to the Bot API: `{ ok: true, result }`, or `{ ok: false, error_code, description, parameters
 * }`.
 */
export function telegramOutcome(answer: ProviderAnswer): Outcome | null {
  const ok = member(answer.json, 'ok')
  if (ok === true) {
    const result = member(answer.json, 'result')
    const chat = textMember(member(result, 'chat'), 'id')
    const id = textMember(result, 'message_id')
    // Message ids are unique only within a chat.
    return chat === undefined || id === undefined
      ? null
      : { kind: 'accepted', providerMessageId: `${chat}:${id}` }
  }
  if (ok !== false) return null
  const description = textMember(answer.json, 'description') ?? ''
  const parameters = member(answer.json, 'parameters')
  const moved = textMember(parameters, 'migrate_to_chat_id')
  return refuse(
    answer,
    {
      code: textMember(answer.json, 'error_code'),
      message: moved === undefined ? description : `${description}; its id is now ${moved}`,
      retryAfterMs: hintOf(member(parameters, 'retry_after')),
    },
    classify(description, answer.status),
  )
}

function classify(description: string, status: number): Classification {
  const words = description.replace(/^[a-z ]+: /i, '').toLowerCase()
  const known = Object.entries(TELEGRAM_ERRORS).find(([beginning]) => words.startsWith(beginning))
  if (known !== undefined) return known[1]
  switch (status) {
    case 403:
      // Concerns one chat: a refused bot gets a 401.
      return restricted
    case 404:
      // The method exists, so the token in the path is invalid.
      return ['rejected', 'provider_auth_failed', 'account']
    case 429:
      // The limit may be the chat's or the bot's. A chat's limit is more common and does not affect other chats.
      return ['retry', 'provider_rate_limited', 'recipient']
    default:
      return byStatus(status)
  }
}
