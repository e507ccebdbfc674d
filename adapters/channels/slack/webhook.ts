import * as z from 'zod'
import { type SlackKind, slack } from '../../../src/core/channels/slack.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, isThisMachine, oneOrSeveral } from '../kit/options.ts'
import { slackWebhookOutcome } from './errors.ts'
import { disguiseOf, refusalOf, slackContent } from './message.ts'

/** Options of `slackWebhook`. */
export interface SlackWebhookOptions extends Omit<ProviderOptions, 'baseUrl'> {
  /** Address of the webhook, `https://hooks.slack.com/services/…`. It is a credential: anyone with it can post. */
  readonly url: string
  /**
   * Recipients that mean the webhook's channel (`#alerts`, `C0123456789`). Messages to others go to another provider
   * or are refused.
   */
  readonly to: string | readonly string[]
}

const { baseUrl: _, ...shape } = providerShape({ name: 'slack-webhook', baseUrl: '' })
const schema = z.strictObject({
  ...shape,
  url: z.string().refine(isWebhookUrl, 'must be the address of an incoming webhook at hooks.slack.com'),
  to: oneOrSeveral(z.string().min(1).max(100)),
})

const NO_DISGUISE =
  'An incoming webhook of Slack cannot change its name or icon. Add an app with "customize".'
const NO_BROADCAST = 'An incoming webhook of Slack cannot show a reply in the channel too. Add an app.'

/**
 * Posts to one Slack channel through an incoming webhook, without a package or a token. Slack returns no message ids
 * for it.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const alerts = slackWebhook({ url: process.env.SLACK_WEBHOOK_URL ?? '', to: '#alerts' })
 * const notifier = createNotifier({ channels: { slack: alerts } })
 */
export function slackWebhook(options: SlackWebhookOptions): Provider<SlackKind> {
  const given = checkOptions('slackWebhook', schema, options)
  const { url } = given
  const recipients = new Set(given.to)
  const { pathname } = new URL(url)
  return httpProvider(slack, given, {
    title: 'Slack',
    secrets: [url, pathname, ...pathname.split('/').slice(-1)],
    async send(message, { signal }, http) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(slackContent(message))
      return refusalOf(message) ?? http.send({ url, headers, body, signal }, slackWebhookOutcome)
    },
    hooks: {
      accepts: (to) => recipients.has(to),
      refuses(parts) {
        const field = disguiseOf(parts)
        if (field !== undefined) return { code: 'invalid_sender', field, message: NO_DISGUISE }
        return parts.replyBroadcast === true
          ? { code: 'invalid_content', field: 'replyBroadcast', message: NO_BROADCAST }
          : null
      },
    },
  })
}

/** Slack's own hosts, or this machine for tests. Workflow triggers share the host and answer in another format. */
function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, pathname } = new URL(text)
  if (username !== '' || pathname.length < 2) return false
  if (protocol === 'http:') return isThisMachine(hostname)
  const isSlacks = hostname === 'hooks.slack.com' || hostname === 'hooks.slack-gov.com'
  return protocol === 'https:' && isSlacks && pathname.startsWith('/services/')
}
