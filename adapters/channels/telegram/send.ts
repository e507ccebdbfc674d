import * as z from 'zod'
import type { Message, Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { member } from '../kit/http/provider-answer.ts'
import { maxPerSecond, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { telegramOutcome } from './errors.ts'
import { type TelegramKind, telegramChannel } from './kind.ts'
import { receiptOptions, type TelegramReceiptOptions, telegramUpdates } from './receipts.ts'

export { type TelegramButton, type TelegramContent, type TelegramKind, telegramChannel } from './kind.ts'
export type { TelegramReceiptOptions }

/** Options of `telegram`. */
export interface TelegramOptions extends ProviderOptions {
  /** The bot's token from BotFather: `123456:ABC-…`. */
  readonly token: string
  /**
   * Most messages per second. Telegram allows about 30 per bot and one per chat.
   *
   * @default 30
   */
  readonly maxPerSecond?: number | undefined
  /**
   * Verification of the bot's webhook, which reports blocks of the bot.
   *
   * @default none: no updates are accepted
   */
  readonly receipts?: TelegramReceiptOptions | undefined
}

const schema = z.strictObject({
  ...providerShape({ name: 'telegram', baseUrl: 'https://api.telegram.org' }),
  maxPerSecond: maxPerSecond.default(30),
  token: z.string().regex(/^\d{1,20}:[\w-]{20,100}$/, 'must be a bot token such as 123456:ABC-…'),
  receipts: receiptOptions.optional(),
})

/**
 * Sends to Telegram chats as a bot (`sendMessage`). The status ends at `sent`: the Bot API reports no deliveries. It
 * has no idempotency, so a retry after an ambiguous attempt may send a second message.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const bot = telegram({ token: process.env.TELEGRAM_BOT_TOKEN ?? '' })
 * const notifier = createNotifier({ channels: { telegram: bot } })
 */
export function telegram(options: TelegramOptions): Provider<TelegramKind> {
  const given = checkOptions('telegram', schema, options)
  const { baseUrl, token, receipts } = given
  const api = `${baseUrl}/bot${token}`
  return httpProvider(telegramChannel, given, {
    title: 'Telegram',
    secrets: [token, token.slice(token.indexOf(':') + 1)],
    send: (message, { signal }, http) =>
      http.send(
        {
          url: `${api}/sendMessage`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(payloadOf(message)),
          signal,
        },
        telegramOutcome,
      ),
    check: (http) =>
      http.send({ method: 'GET', url: `${api}/getMe`, headers: {} }, (answer) =>
        member(answer.json, 'ok') === true ? { kind: 'accepted' } : telegramOutcome(answer),
      ),
    hooks: receipts && { parseReceipts: telegramUpdates(receipts) },
  })
}

function payloadOf({
  to,
  body,
  telegram: parts = {},
}: Message<TelegramKind>): Readonly<Record<string, unknown>> {
  const { silent, linkPreview, protect, threadId, replyTo, buttons } = parts
  // JSON omits undefined members.
  return {
    chat_id: to,
    text: body,
    disable_notification: silent,
    protect_content: protect,
    message_thread_id: threadId,
    link_preview_options: linkPreview === undefined ? undefined : { is_disabled: !linkPreview },
    reply_parameters:
      replyTo === undefined ? undefined : { message_id: replyTo, allow_sending_without_reply: true },
    reply_markup: buttons === undefined ? undefined : { inline_keyboard: buttons },
  }
}
