import * as z from 'zod'
import { bytesOf } from '../input/bounds.ts'
import { jsonObject, text } from '../input/fields.ts'
import { httpsUrl } from '../input/https-url.ts'
import type { JsonFields } from '../input/json-fields.ts'
import { agreeing } from '../rest/named.ts'
import { type ChannelKind, isPlainLine } from './channel-kind.ts'
import { slackLint } from './slack-lint.ts'

/** Parts of a Slack message besides its text. Notifications show the text. */
export interface SlackContent {
  /** Block Kit blocks: 1 to 50, at most 100,000 bytes of JSON. */
  readonly blocks?: readonly JsonFields[] | undefined
  /** Attachments in Slack's older format: 1 to 20, at most 100,000 bytes of JSON. */
  readonly attachments?: readonly JsonFields[] | undefined
  /** Posts a reply in the thread of this message: its `ts`, such as `1763726400.000100`. */
  readonly threadTs?: string | undefined
  /** True: shows the reply in the channel too. Only with `threadTs`, and not through incoming webhooks. Default: false. */
  readonly replyBroadcast?: boolean | undefined
  /** Whether Slack shows previews of links. Default: the provider's option `unfurl`. */
  readonly unfurlLinks?: boolean | undefined
  /** Whether Slack shows previews of media. Default: the provider's option `unfurl`. */
  readonly unfurlMedia?: boolean | undefined
  /**
   * Name shown instead of the app's: 1 to 80 characters. This and the icons need a provider with `customize`, and are
   * refused by incoming webhooks.
   */
  readonly username?: string | undefined
  /** Emoji shown as the icon, such as `:rocket:`. Not together with `iconUrl`. */
  readonly iconEmoji?: string | undefined
  /** Image shown as the icon: an https URL of at most 2,048 characters. */
  readonly iconUrl?: string | undefined
}

export type SlackKind = ChannelKind<'slack', SlackContent>

const MAX_BLOCKS = 50
const MAX_ATTACHMENTS = 20
const MAX_JSON_BYTES = 100_000
const RECIPIENT = /^(?:[CGDUW][A-Z0-9]{1,31}|#[^\s#@<>,|&]{1,80}|@?[a-z0-9][a-z0-9._-]{0,79})$/
const CONTROL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A list in Slack's own format, whose fields Slack checks. */
const listOf = (most: number) =>
  z
    .array(jsonObject)
    .min(1)
    .max(most)
    .refine(
      (list) => bytesOf(JSON.stringify(list)) <= MAX_JSON_BYTES,
      `at most ${MAX_JSON_BYTES} bytes of JSON`,
    )
    .optional()

const slackParts = z
  .strictObject({
    blocks: listOf(MAX_BLOCKS).describe('Block Kit blocks, at most 50. Notifications show `body`.'),
    attachments: listOf(MAX_ATTACHMENTS).describe("Attachments in Slack's older format, at most 20."),
    threadTs: z
      .string()
      .regex(/^\d{10}\.\d{6}$/, 'must be the ts of a message, such as 1763726400.000100')
      .optional()
      .describe('Posts a reply in the thread of the message with this `ts`.'),
    replyBroadcast: z
      .boolean()
      .optional()
      .describe('True: shows the reply in the channel too. Only with `threadTs`.'),
    unfurlLinks: z.boolean().optional().describe('Whether Slack shows previews of links.'),
    unfurlMedia: z.boolean().optional().describe('Whether Slack shows previews of media.'),
    username: text(1, 80)
      .refine(isPlainLine, { message: 'must be one line without spaces at its ends' })
      .optional()
      .describe("Name shown in place of the app's. A provider must allow it."),
    iconEmoji: z
      .string()
      .regex(/^:[\w+'-]{1,100}:$/, 'must be an emoji such as :rocket:')
      .optional()
      .describe('Emoji shown as the icon, such as `:rocket:`.'),
    iconUrl: httpsUrl.optional().describe('Image shown as the icon: an https URL.'),
  })
  .refine(({ replyBroadcast, threadTs }) => replyBroadcast !== true || threadTs !== undefined, {
    path: ['replyBroadcast'],
    message: 'needs "threadTs": only a reply can be shown in the channel too',
  })
  .refine(({ iconEmoji, iconUrl }) => iconEmoji === undefined || iconUrl === undefined, {
    path: ['iconUrl'],
    message: 'must be left out beside "iconEmoji"',
  })

export const slack: SlackKind = {
  name: 'slack',
  recipient: 'a Slack channel id, a #channel or a user id',
  checkRecipient: (to) => (RECIPIENT.test(to) ? null : {}),
  // Control sequences such as `<!channel>` use all three (docs.slack.dev, "Formatting text").
  escape: (value) => value.replace(/[&<>]/g, (character) => CONTROL[character] ?? character),
  parts: agreeing(slackParts),
  lint: slackLint,
}
