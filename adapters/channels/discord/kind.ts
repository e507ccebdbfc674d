import * as z from 'zod'
import type { ChannelKind } from '../../../src/core/channels/channel-kind.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { bytesOf } from '../../../src/core/input/bounds.ts'
import { jsonObject, text } from '../../../src/core/input/fields.ts'
import type { JsonFields } from '../../../src/core/input/json-fields.ts'
import { agreeing } from '../../../src/core/rest/named.ts'
import { member } from '../kit/http/provider-answer.ts'

/** Parts of a Discord message besides its text. */
export interface DiscordContent {
  /** Embeds in Discord's format: 1 to 10, with at most 6,000 characters of text and 50,000 of JSON in total. */
  readonly embeds?: readonly JsonFields[] | undefined
  /** Name shown instead of the webhook's: 1 to 80 characters. */
  readonly username?: string | undefined
  /** Avatar shown instead of the webhook's: an https URL. */
  readonly avatarUrl?: string | undefined
  /** Id of the thread in the webhook's channel to post into. */
  readonly threadId?: string | undefined
  /** True: deliver without a sound. Default: false. */
  readonly silent?: boolean | undefined
  /** True: hide embeds and link previews. Default: false. */
  readonly suppressEmbeds?: boolean | undefined
  /**
   * Users and roles that `<@id>` and `<@&id>` in the text may notify: at most 100 ids of each. Default: none.
   * `@everyone` never notifies.
   */
  readonly mentions?: DiscordMentions | undefined
}

/** Users and roles that a text may notify. */
export interface DiscordMentions {
  /** User ids. */
  readonly users?: readonly string[] | undefined
  /** Role ids. */
  readonly roles?: readonly string[] | undefined
}

export type DiscordKind = ChannelKind<'discord', DiscordContent>

const MAX_CHARACTERS = 2_000
const MAX_EMBEDS = 10
const MAX_EMBED_TEXT = 6_000
const MAX_EMBED_BYTES = 50_000
const SNOWFLAKE = /^\d{15,20}$/
const CHANNEL = /^#[^\s#@:<>`]{1,100}$/u
/**
 * URLs stay unescaped, because a backslash would break them. A URL ends before characters that could close it or a link
 * around it. Plus and minus start a list only before a space.
 */
const MARKUP = /https?:\/\/[^\s\\*~`|<>[\]()]+|[\\*_~`|<>[\]()#]|[-+](?=\s)/g

const snowflake = z.string().regex(SNOWFLAKE, 'must be a Discord id of 15 to 20 digits')
const ids = z.array(snowflake).min(1).max(100).optional()

const discordParts = z.strictObject({
  embeds: z
    .array(jsonObject)
    .min(1)
    .max(MAX_EMBEDS)
    .refine(
      (embeds) => bytesOf(JSON.stringify(embeds)) <= MAX_EMBED_BYTES,
      `at most ${MAX_EMBED_BYTES} bytes of JSON`,
    )
    .refine(
      (embeds) => embeds.flatMap(textsOf).join('').length <= MAX_EMBED_TEXT,
      `at most ${MAX_EMBED_TEXT} characters of text in total`,
    )
    .optional()
    .describe('Embeds in the format of Discord: at most 10, with 6000 characters of text in total.'),
  username: text(1, 80).optional().describe("Name shown in place of the webhook's."),
  avatarUrl: text(1, 2_048)
    .refine((url) => URL.canParse(url) && new URL(url).protocol === 'https:', {
      message: 'must be an https URL',
    })
    .optional()
    .describe("Avatar shown in place of the webhook's: an https URL."),
  threadId: snowflake.optional().describe("Id of the thread in the webhook's channel to post into."),
  silent: z.boolean().optional().describe('True: deliver without a sound.'),
  suppressEmbeds: z.boolean().optional().describe('True: hide embeds and link previews.'),
  mentions: z
    .strictObject({
      users: ids.describe('User ids, at most 100.'),
      roles: ids.describe('Role ids, at most 100.'),
    })
    .optional()
    .describe(
      'Users and roles that <@id> and <@&id> in the text may notify. Default: none. @everyone never notifies.',
    ),
})

/** Discord channels. The text is Discord's Markdown; values of template variables are escaped in it. */
export const discordChannel: DiscordKind = {
  name: 'discord',
  recipient: 'a Discord channel id or a #channel',
  checkRecipient: (to) => (SNOWFLAKE.test(to) || CHANNEL.test(to) ? null : {}),
  canonical: (to) => to.toLowerCase(),
  escape: (value) => value.replace(MARKUP, (found) => (found.length > 1 ? found : `\\${found}`)),
  parts: agreeing(discordParts),
  isBlank: ({ body, parts }) => body.trim() === '' && parts?.embeds === undefined,
  assertText({ body }) {
    // Unicode characters rather than UTF-16 units. Discord itself checks texts between the two counts.
    const characters = body.length - (body.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)
    if (characters <= MAX_CHARACTERS) return
    throw new NotifierError('message_too_large', {
      message: `The text has ${characters} characters; Discord accepts at most ${MAX_CHARACTERS}.`,
      details: { field: 'body', characters, maxCharacters: MAX_CHARACTERS },
    })
  },
}

/** The texts of an embed that count towards Discord's total. */
function textsOf(embed: unknown): string[] {
  const fields = member(embed, 'fields')
  const texts = [
    member(embed, 'title'),
    member(embed, 'description'),
    member(member(embed, 'footer'), 'text'),
    member(member(embed, 'author'), 'name'),
    ...(Array.isArray(fields)
      ? fields.flatMap((field) => [member(field, 'name'), member(field, 'value')])
      : []),
  ]
  return texts.filter((one) => typeof one === 'string')
}
