import * as z from 'zod'
import { channel } from '../../core/input/fields.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import { line, recipient } from '../../core/rest/query-schemas.ts'
import { MOST_UNDO } from './undo.ts'

/** The results of a post of which the preference page tells. */
export const SAVED = ['all', 'partly', 'undone', 'changed'] as const

/** Query of the preference page. */
export const preferencePageQuery: z.ZodType<{
  t: string
  lang?: string | undefined
  saved?: (typeof SAVED)[number] | undefined
  undo?: string | undefined
}> = z.object({
  t: line.max(8_000).describe('The signed token of the link.'),
  lang: line
    .max(35)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
  saved: z
    .enum(SAVED)
    .optional()
    .describe(
      'Says that the preferences are saved; `partly`: but not the quiet hours; `undone`: as before; `changed`: not undone.',
    ),
  undo: line.max(MOST_UNDO).optional().describe('The token that undoes the last post.'),
})

/** Query of `/v1/preferences`. */
export const preferencesQuery: z.ZodType<{
  recipient?: string | undefined
  channel?: string | undefined
  to?: string | undefined
}> = z.object({
  recipient: line
    .max(MAX_RECIPIENT_ID)
    .optional()
    .describe("The application's id of a person, as `recipient` in a send."),
  channel: channel.optional().describe('With `to`, instead of `recipient`.'),
  to: recipient.optional().describe('An address, percent-encoded: the plus sign of a phone number is `%2B`.'),
})
