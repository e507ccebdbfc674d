import * as z from 'zod'
import { type SlackKind, slack } from '../../../src/channels/slack.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { describeProvider } from '../kit/http/describe.ts'
import { maxPerSecond, type PacedProviderOptions } from '../kit/http/paced-options.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, isThisMachine, oneOrSeveral } from '../kit/options.ts'
import { judgeSlackWebhook } from './errors.ts'
import { refusalOf, slackContent } from './message.ts'

/** Options of `slackWebhook`. */
export interface SlackWebhookOptions extends Omit<PacedProviderOptions, 'baseUrl'> {
  /** Address of the webhook, `https://hooks.slack.com/services/…`. It is a credential: anyone with it can post. */
  readonly url: string
  /**
   * Recipients that mean the webhook's channel (`#alerts`, `C0123456789`). The webhook can post nowhere else, so
   * messages to other recipients go to another provider or are refused.
   */
  readonly to: string | readonly string[]
}

const { baseUrl: _, ...shape } = providerShape({ name: 'slack-webhook', baseUrl: '' })
const schema = z.strictObject({
  ...shape,
  maxPerSecond,
  url: z.string().refine(isWebhookUrl, 'must be the address of an incoming webhook at hooks.slack.com'),
  to: oneOrSeveral(z.string().min(1).max(100)),
})

/**
 * Posts to one Slack channel through an incoming webhook, without a package or a token. Slack returns no message ids
 * for it.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 */
export function slackWebhook(options: SlackWebhookOptions): Provider<SlackKind> {
  const given = checkOptions('slackWebhook', schema, options)
  const { timeoutMs, maxConcurrent, url } = given
  const places = new Set(given.to)
  const http = providerHttp({
    maxConnections: maxConcurrent,
    timeoutMs,
    secrets: [url, new URL(url).pathname, ...new URL(url).pathname.split('/').slice(-1)],
  })
  return {
    ...describeProvider(slack, given),
    accepts: (to) => places.has(to),
    async send(message, { signal }) {
      return (
        refusalOf(message) ??
        http.send(
          {
            url,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(slackContent(message)),
            signal,
          },
          judgeSlackWebhook,
        )
      )
    },
    close: () => http.close(),
  }
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
