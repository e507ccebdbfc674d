import * as z from 'zod'
import type { ChannelKind } from '../../../src/core/channels/channel-kind.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { text } from '../../../src/core/input/fields.ts'
import { agreeing } from '../../../src/core/rest/named.ts'

/** A button under a message that opens a URL. */
export interface TelegramButton {
  /** Label: 1 to 64 characters. */
  readonly text: string
  /** `https:`, `http:` or `tg:` URL of at most 2,048 characters. */
  readonly url: string
}

/** Parts of a Telegram message besides its text. */
export interface TelegramContent {
  /** True: deliver without a sound. Default: false. */
  readonly silent?: boolean | undefined
  /** False: hide the preview of the first link. Default: true. */
  readonly linkPreview?: boolean | undefined
  /** True: prevent forwarding and saving. Default: false. */
  readonly protect?: boolean | undefined
  /** Id of the forum topic (`message_thread_id`). */
  readonly threadId?: number | undefined
  /**
   * Id of the message in the same chat to reply to (`message_id`). If it no longer exists, the message is sent without
   * the reference.
   */
  readonly replyTo?: number | undefined
  /** Rows of buttons: 1 to 12 rows with 1 to 8 buttons each. */
  readonly buttons?: readonly (readonly TelegramButton[])[] | undefined
}

export type TelegramKind = ChannelKind<'telegram', TelegramContent>

const MAX_CHARACTERS = 4_096
/** Chat ids have at most 52 significant bits. */
const MAX_CHAT_ID = 2 ** 52
const CHAT_ID = /^-?[1-9]\d{0,15}$/
const USER_NAME = /^@\w{4,32}$/
const MAX_ID = 2 ** 31 - 1

const button = z.strictObject({
  text: text(1, 64).describe('Label of the button.'),
  url: text(1, 2_048)
    .refine(isLink, { message: 'must be an https:, http: or tg: URL' })
    .describe('URL that it opens: https:, http: or tg:.'),
})
const id = z.int().min(1).max(MAX_ID)

const telegramParts = z.strictObject({
  silent: z.boolean().optional().describe('True: deliver without a sound.'),
  linkPreview: z.boolean().optional().describe('False: hide the preview of the first link.'),
  protect: z.boolean().optional().describe('True: prevent forwarding and saving.'),
  threadId: id.optional().describe('Id of the forum topic (message_thread_id).'),
  replyTo: id.optional().describe('Id of the message in the same chat to reply to (message_id).'),
  buttons: z
    .array(z.array(button).min(1).max(8))
    .min(1)
    .max(12)
    .optional()
    .describe('Rows of buttons that open URLs: at most 12 rows of 8.'),
})

/** Telegram chats. Text is plain, so values of template variables need no escaping. */
export const telegramChannel: TelegramKind = {
  name: 'telegram',
  recipient: 'a Telegram chat id such as 123456789 or -1001234567890, or an @name',
  checkRecipient: (to) => (isChatId(to) || USER_NAME.test(to) ? null : {}),
  canonical: (to) => to.toLowerCase(),
  stops: true,
  parts: agreeing(telegramParts),
  isBlank: ({ body }) => body.trim() === '',
  assertText({ body }) {
    const characters = lengthOf(body)
    if (characters <= MAX_CHARACTERS) return
    throw new NotifierError('message_too_large', {
      message: `The text has ${characters} characters; Telegram accepts at most ${MAX_CHARACTERS}.`,
      details: { field: 'body', characters, maxCharacters: MAX_CHARACTERS },
    })
  },
}

function isChatId(to: string): boolean {
  return CHAT_ID.test(to) && Math.abs(Number(to)) < MAX_CHAT_ID
}

/** Unicode characters rather than UTF-16 units. Telegram itself checks texts between the two counts. */
function lengthOf(body: string): number {
  let length = 0
  for (const _ of body) length += 1
  return length
}

function isLink(url: string): boolean {
  return URL.canParse(url) && /^(?:https?|tg):$/.test(new URL(url).protocol)
}
