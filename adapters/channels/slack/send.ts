import * as z from 'zod'
import { type SlackKind, slack as slackKind } from '../../../src/core/channels/slack.ts'
import type { PartsRefusal, Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { member } from '../kit/http/provider-answer.ts'
import { credential, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { slackOutcome } from './errors.ts'
import { disguiseOf, refusalOf, slackContent } from './message.ts'
import { receiptOptions, type SlackReceiptOptions, slackEvents } from './receipts.ts'

export { type SlackWebhookOptions, slackWebhook } from './webhook.ts'
export type { SlackReceiptOptions }

/** Options of `slack`. */
export interface SlackOptions extends ProviderOptions {
  /** A bot token, `xoxb-…`, with the scope `chat:write`. */
  readonly token: string
  /**
   * Whether Slack shows previews of links and media.
   *
   * @default Slack's own rules
   */
  readonly unfurl?: boolean | undefined
  /**
   * The token has the scope `chat:write.customize`, so messages may have their own `username`, `iconEmoji` or
   * `iconUrl`.
   *
   * @default false
   */
  readonly customize?: boolean | undefined
  /**
   * Verification of the app's Events API.
   *
   * @default none: no events are accepted
   */
  readonly receipts?: SlackReceiptOptions | undefined
}

const schema = z.strictObject({
  ...providerShape({ name: 'slack', baseUrl: 'https://slack.com/api' }),
  token: credential,
  unfurl: z.boolean().optional(),
  customize: z.boolean().default(false),
  receipts: receiptOptions.optional(),
})

const NO_DISGUISE: PartsRefusal = {
  code: 'invalid_sender',
  message:
    'No Slack app here may change its name or icon. Give a token the scope chat:write.customize, and the provider the ' +
    'option "customize: true".',
}

/**
 * Posts to Slack as an app (`chat.postMessage`). The status ends at `sent`: Slack reports no deliveries. Slack has no
 * idempotency. Each message carries the notification's id and metadata as Slack metadata (`carillon_notification`), by
 * which an app can recognize a repeated one. Everyone in the workspace can read them.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const workspace = slack({ token: process.env.SLACK_BOT_TOKEN ?? '' })
 * const notifier = createNotifier({ channels: { slack: workspace } })
 */
export function slack(options: SlackOptions): Provider<SlackKind> {
  const given = checkOptions('slack', schema, options)
  const { baseUrl, token, unfurl, receipts } = given
  const authorization = `Bearer ${token}`
  return httpProvider(slackKind, given, {
    title: 'Slack',
    secrets: [token],
    async send(message, { notificationId, signal }, http) {
      const refusal = refusalOf(message)
      if (refusal !== null) return refusal
      const { replyBroadcast, username, iconEmoji, iconUrl } = message.slack ?? {}
      const body = JSON.stringify({
        channel: message.to,
        ...slackContent(message, unfurl),
        reply_broadcast: replyBroadcast,
        username,
        icon_emoji: iconEmoji,
        icon_url: iconUrl,
        metadata: {
          event_type: 'carillon_notification',
          event_payload: { ...message.metadata, notification_id: notificationId },
        },
      })
      const headers = { authorization, 'content-type': 'application/json; charset=utf-8' }
      return http.send({ url: `${baseUrl}/chat.postMessage`, headers, body, signal }, slackOutcome)
    },
    check: (http) =>
      http.send({ url: `${baseUrl}/auth.test`, headers: { authorization } }, (answer) =>
        member(answer.json, 'ok') === true ? { kind: 'accepted' } : slackOutcome(answer),
      ),
    hooks: {
      refuses(parts) {
        const field = given.customize ? undefined : disguiseOf(parts)
        return field === undefined ? null : { ...NO_DISGUISE, field }
      },
      ...(receipts && { parseReceipts: slackEvents(receipts) }),
    },
  })
}
