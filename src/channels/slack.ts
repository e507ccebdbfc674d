import * as z from 'zod'
import type { ChannelKind } from '../domain/channel-kind.ts'
import { jsonObject } from '../domain/input/fields.ts'
import type { JsonFields } from '../domain/json-fields.ts'

/** Parts of a Slack message beside its text. Notifications show the text. */
export interface SlackContent {
  /** Block Kit blocks: 1 to 50, at most 100 000 characters of JSON. */
  readonly blocks?: readonly JsonFields[] | undefined
}

export type SlackKind = ChannelKind<'slack', SlackContent>

const MAX_BLOCKS = 50
const MAX_BLOCKS_LENGTH = 100_000
const RECIPIENT = /^(?:[CGDUW][A-Z0-9]{1,31}|#[^\s#@<>,|&]{1,80}|@?[a-z0-9][a-z0-9._-]{0,79})$/
const CONTROL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const slackParts: z.ZodType<SlackContent, SlackContent> = z.strictObject({
  blocks: z
    .array(jsonObject)
    .min(1)
    .max(MAX_BLOCKS)
    .refine(
      (blocks) => JSON.stringify(blocks).length <= MAX_BLOCKS_LENGTH,
      `at most ${MAX_BLOCKS_LENGTH} characters of JSON`,
    )
    .optional()
    .describe('Block Kit blocks, at most 50. Notifications show `body`.'),
})

export const slack: SlackKind = {
  name: 'slack',
  recipient: 'a Slack channel id, a #channel or a user id',
  checkRecipient: (to) => (RECIPIENT.test(to) ? null : {}),
  // Control sequences such as `<!channel>` use all three (docs.slack.dev, "Formatting text").
  escape: (value) => value.replace(/[&<>]/g, (character) => CONTROL[character] ?? character),
  parts: slackParts,
}
