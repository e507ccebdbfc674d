import * as z from 'zod'
import type { Message, Provider } from '../../../src/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { describeProvider } from '../kit/http/describe.ts'
import { maxPerSecond, type PacedProviderOptions } from '../kit/http/paced-options.ts'
import { member } from '../kit/http/provider-answer.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { judgeTelegram } from './errors.ts'
import { type TelegramKind, telegramChannel } from './kind.ts'
import { receiptOptions, type TelegramReceiptOptions, telegramUpdates } from './receipts.ts'

export { type TelegramButton, type TelegramContent, type TelegramKind, telegramChannel } from './kind.ts'
export type { TelegramReceiptOptions }

/** Options of `telegram`. */
export interface TelegramOptions extends PacedProviderOptions {
  /** The bot's token, as BotFather gives it: `123456:ABC-…`. */
  readonly token: string
  /**
   * Most messages in any second, by all processes together that share the rate limiter: a whole number, or a fraction
   * below 1. Telegram takes about 30 of one bot, and about one for each chat.
   *
   * @default 30
   */
  readonly maxPerSecond?: number | undefined
  /**
   * The webhook of the bot, which tells who has blocked it.
   *
   * @default none: no updates are taken
   */
  readonly receipts?: TelegramReceiptOptions | undefined
}

const schema = z.strictObject({
  ...providerShape({ name: 'telegram', baseUrl: 'https://api.telegram.org' }),
  maxPerSecond: maxPerSecond.default(30),
  token: z.string().regex(/^\d{1,20}:[\w-]{20,100}$/, 'must be the token of a bot, 123456:ABC-…'),
  receipts: receiptOptions.optional(),
})

/**
 * Sends to chats of Telegram as a bot (`sendMessage`). The answer is `sent`: the Bot API reports no deliveries. It knows no
 * idempotency: a repetition after an ambiguous attempt is a second message.
 *
 * @throws NotifierError `invalid_configuration`, naming the option that is wrong
 */
export function telegram(options: TelegramOptions): Provider<TelegramKind> {
  const given = checkOptions('telegram', schema, options)
  const { baseUrl, timeoutMs, maxConcurrent, token, receipts } = given
  const secret = token.slice(token.indexOf(':') + 1)
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [token, secret] })
  const api = `${baseUrl}/bot${token}`

  return {
    ...describeProvider(telegramChannel, given),
    send: (message, { signal }) =>
      http.send(
        {
          url: `${api}/sendMessage`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(payloadOf(message)),
          signal,
        },
        judgeTelegram,
      ),
    ...(receipts === undefined ? {} : { parseReceipts: telegramUpdates(receipts) }),
    async check() {
      const outcome = await http.send({ method: 'GET', url: `${api}/getMe`, headers: {} }, (answer) =>
        member(answer.json, 'ok') === true ? { kind: 'accepted' } : judgeTelegram(answer),
      )
      assertWorks(outcome, 'Telegram')
    },
    close: () => http.close(),
  }
}

function payloadOf({
  to,
  body,
  telegram: parts = {},
}: Message<TelegramKind>): Readonly<Record<string, unknown>> {
  const { silent, linkPreview, protect, threadId, replyTo, buttons } = parts
  // What is undefined, JSON leaves out.
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
