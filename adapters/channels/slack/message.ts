import type { SlackKind } from '../../../src/channels/slack.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'
import type { Message } from '../../../src/ports/provider.ts'

/** Slack silently truncates longer texts (docs of `chat.postMessage`). */
const MAX_TEXT = 40_000

/** Text and blocks for both ways to post. Notifications show the text; without blocks, so does the message. */
export function slackContent({ body, slack }: Message<SlackKind>): Readonly<Record<string, unknown>> {
  return { text: body, ...(slack?.blocks === undefined ? {} : { blocks: slack.blocks }) }
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
