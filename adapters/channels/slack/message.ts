import type { SlackContent, SlackKind } from '../../../src/core/channels/slack.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message } from '../../../src/core/ports/provider.ts'

/** Slack silently truncates longer texts (docs of `chat.postMessage`). */
const MAX_TEXT = 40_000

/**
 * The content for both ways to post. Notifications show the text; without blocks, so does the message. Undefined members
 * are omitted from JSON.
 *
 * @param unfurl the provider's choice for messages without their own
 */
export function slackContent(
  { body, slack: parts = {} }: Message<SlackKind>,
  unfurl?: boolean,
): Readonly<Record<string, unknown>> {
  return {
    text: body,
    blocks: parts.blocks,
    attachments: parts.attachments,
    thread_ts: parts.threadTs,
    unfurl_links: parts.unfurlLinks ?? unfurl,
    unfurl_media: parts.unfurlMedia ?? unfurl,
  }
}

/** The part by which a message changes the name or icon of the app. */
export function disguiseOf(parts: SlackContent): 'username' | 'iconEmoji' | 'iconUrl' | undefined {
  return (['username', 'iconEmoji', 'iconUrl'] as const).find((part) => parts[part] !== undefined)
}

/** The refusal of a message that Slack would alter. Null: none. */
export function refusalOf({ body }: Message<SlackKind>): Outcome | null {
  if (body.length <= MAX_TEXT) return null
  return {
    kind: 'rejected',
    code: 'message_too_large',
    scope: 'message',
    message: `The text has ${body.length} characters; Slack shows at most ${MAX_TEXT}.`,
  }
}
