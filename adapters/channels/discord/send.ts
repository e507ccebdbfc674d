import * as z from 'zod'
import type { Message, Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, isThisMachine, oneOrSeveral } from '../kit/options.ts'
import { discordOutcome } from './errors.ts'
import { type DiscordKind, discordChannel } from './kind.ts'

export { type DiscordContent, type DiscordKind, type DiscordMentions, discordChannel } from './kind.ts'

/** Options of `discord`. */
export interface DiscordOptions extends Omit<ProviderOptions, 'baseUrl'> {
  /** Address of the webhook, `https://discord.com/api/webhooks/…`. It is a credential: anyone with it can post. */
  readonly url: string
  /**
   * Recipients that mean the webhook's channel (`#alerts`, its id). Messages to others go to another provider or are
   * refused.
   */
  readonly to: string | readonly string[]
}

const { baseUrl: _, ...shape } = providerShape({ name: 'discord', baseUrl: '' })
const schema = z.strictObject({
  ...shape,
  url: z.string().refine(isWebhookUrl, 'must be the URL of a webhook at discord.com, without a query'),
  to: oneOrSeveral(
    z
      .string()
      .refine((to) => discordChannel.checkRecipient?.(to) === null, `must be ${discordChannel.recipient}`)
      .transform((to) => to.toLowerCase()),
  ),
})

/** Message flags of Discord's API. */
const SUPPRESS_EMBEDS = 1 << 2
const SUPPRESS_NOTIFICATIONS = 1 << 12

/**
 * Posts to one Discord channel through an incoming webhook. The status ends at `sent`: Discord reports no deliveries.
 * Webhooks have no idempotency, so a retry after an ambiguous attempt may post a second message.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const alerts = discord({ url: process.env.DISCORD_WEBHOOK_URL ?? '', to: '#alerts' })
 * const notifier = createNotifier({ channels: { discord: alerts } })
 */
export function discord(options: DiscordOptions): Provider<DiscordKind> {
  const given = checkOptions('discord', schema, options)
  const { url } = given
  const recipients = new Set(given.to)
  const { pathname } = new URL(url)
  return httpProvider(discordChannel, given, {
    title: 'Discord',
    secrets: [url, pathname, ...pathname.split('/').slice(-1)],
    send: (message, { signal }, http) =>
      http.send(
        {
          url: url + queryOf(message),
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(payloadOf(message)),
          signal,
        },
        discordOutcome,
      ),
    check: (http) => http.send({ method: 'GET', url, headers: {} }, discordOutcome),
    hooks: { accepts: (to) => recipients.has(to.toLowerCase()) },
  })
}

/** Without `wait`, Discord answers before it validates the message. */
function queryOf({ discord: parts }: Message<DiscordKind>): string {
  return `?wait=true${parts?.threadId === undefined ? '' : `&thread_id=${parts.threadId}`}`
}

function payloadOf({ body, discord: parts = {} }: Message<DiscordKind>): Readonly<Record<string, unknown>> {
  const { embeds, username, avatarUrl, silent, suppressEmbeds, mentions } = parts
  const flags =
    (suppressEmbeds === true ? SUPPRESS_EMBEDS : 0) | (silent === true ? SUPPRESS_NOTIFICATIONS : 0)
  // JSON omits undefined members.
  return {
    content: body,
    embeds,
    username,
    avatar_url: avatarUrl,
    flags: flags === 0 ? undefined : flags,
    allowed_mentions: { parse: [], users: mentions?.users, roles: mentions?.roles },
  }
}

/** Discord's own hosts, or this machine for tests. */
function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { protocol, hostname, username, password, pathname } = new URL(text)
  if (username !== '' || password !== '') return false
  if (!/^\/api\/(?:v\d+\/)?webhooks\/\d{15,20}\/[\w-]{20,200}$/.test(pathname)) return false
  if (protocol === 'http:') return isThisMachine(hostname)
  return protocol === 'https:' && /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/.test(hostname)
}
