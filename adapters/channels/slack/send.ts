import * as z from 'zod'
import { type SlackKind, slack as slackKind } from '../../../src/channels/slack.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { member } from '../kit/http/provider-answer.ts'
import { credential, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { judgeSlack } from './errors.ts'
import { refusalOf, slackContent } from './message.ts'
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
  receipts: receiptOptions.optional(),
})

/**
 * Posts to Slack as an app (`chat.postMessage`). The status ends at `sent`: Slack reports no deliveries. Slack has no
 * idempotency. Each message carries the notification's id as metadata (`carillon_notification`), by which an app can
 * recognize a repeated one.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
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
      // JSON omits undefined members.
      const body = JSON.stringify({
        channel: message.to,
        ...slackContent(message),
        unfurl_links: unfurl,
        unfurl_media: unfurl,
        metadata: {
          event_type: 'carillon_notification',
          event_payload: { notification_id: notificationId },
        },
      })
      const headers = { authorization, 'content-type': 'application/json; charset=utf-8' }
      return http.send({ url: `${baseUrl}/chat.postMessage`, headers, body, signal }, judgeSlack)
    },
    check: (http) =>
      http.send({ url: `${baseUrl}/auth.test`, headers: { authorization } }, (answer) =>
        member(answer.json, 'ok') === true ? { kind: 'accepted' } : judgeSlack(answer),
      ),
    hooks: receipts && { parseReceipts: slackEvents(receipts) },
  })
}
