import type { SlackKind } from '../../../src/channels/slack.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'
import type { Message } from '../../../src/ports/provider.ts'

/** Slack cuts longer texts off without a word (docs of `chat.postMessage`). */
const MAX_TEXT = 40_000

/** Text and blocks as both ways to post take them; the text is what notifications show, and what stands without blocks. */
export function slackContent({ body, slack }: Message<SlackKind>): Readonly<Record<string, unknown>> {
  return { text: body, ...(slack?.blocks === undefined ? {} : { blocks: slack.blocks }) }
}

/** Why Slack would not show a message as it is; null: it would. */
export function refusalOf({ body }: Message<SlackKind>): Outcome | null {
  if (body.length <= MAX_TEXT) return null
  return {
    kind: 'rejected',
    code: 'message_too_large',
    scope: 'message',
    message: `The text has ${body.length} characters; Slack shows ${MAX_TEXT}.`,
  }
}
