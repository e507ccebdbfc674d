import * as z from 'zod'
import type { ChannelName } from '../channel.ts'
import type { JsonFields } from '../json-fields.ts'
import type { EmailContent, EmailInput, PushContent, SlackContent } from '../message-parts.ts'
import type { BodyFormat, Priority } from '../notification.ts'
import { MAX_RECIPIENT_LENGTH } from '../recipient.ts'
import { MAX_SUBJECT_LENGTH } from '../template/compile.ts'
import { MAX_BODY_LENGTH } from '../template/write.ts'
import { channel, instant, jsonObject, text } from './fields.ts'
import { emailParts, pushParts, slackParts } from './parts.ts'

/**
 * A message to send. Either a template, or a channel with a body: a message that has
 * neither does not compile.
 */
export type SendInput = SendFields &
  ({ readonly template: string } | { readonly channel: ChannelName; readonly body: string })

/** The fields of a {@link SendInput}, whichever of them are there. */
export interface SendFields {
  /** Required unless a template is named, whose channel is then used. */
  readonly channel?: ChannelName | undefined
  /** E-mail address, E.164 phone number, device token, Slack channel or https URL, depending on the channel. */
  readonly to: string
  /** Of a mail; the title of a push message; a field of a webhook. Replaces the subject of a template, literally. */
  readonly subject?: string | undefined
  /** The message, sent as it is. Required unless a template is named, whose text is used in its place. */
  readonly body?: string | undefined
  /** Id or name of a template. */
  readonly template?: string | undefined
  /** Values for the template's placeholders; without a template refused where the text looks as if it had some. */
  readonly variables?: JsonFields | undefined
  /** The same as `variables`, which wins where both name one key. */
  readonly data?: JsonFields | undefined
  /** How an e-mail body is to be read. Default: as the template says, else a document or a closing tag makes it HTML. */
  readonly format?: BodyFormat | undefined
  /** On `email` only: reply address, headers, attachments, one-click unsubscription. */
  readonly email?: EmailInput | undefined
  /** On `push` only: data for the application. */
  readonly push?: PushContent | undefined
  /** On `slack` only: blocks. */
  readonly slack?: SlackContent | undefined
  /**
   * True for one-time codes and the like: the content is never shown, and is removed when delivery has ended, so that the
   * message cannot be resent or retried then. Default false.
   */
  readonly sensitive?: boolean | undefined
  /** `high` overtakes bulk (one-time codes). Default `normal`. */
  readonly priority?: Priority | undefined
  /** Not before this time: ISO 8601 with a zone, or a Date. Default: at once. */
  readonly sendAt?: string | Date | undefined
  /** Not handed to a provider after this time: ISO 8601 with a zone, or a Date. Default: never expires. */
  readonly expiresAt?: string | Date | undefined
}

/** {@link SendFields} whose form is valid. */
export interface ParsedSend extends Omit<SendFields, 'email' | 'sendAt' | 'expiresAt'> {
  readonly email?: EmailContent | undefined
  /** Epoch milliseconds. */
  readonly sendAt?: number | undefined
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined
}

/** The one schema behind `notifier.send`, the REST API and its OpenAPI document. */
export const sendInput: z.ZodType<ParsedSend, SendFields> = z.object({
  channel: channel.optional().describe('Required unless a template is named, whose channel is then used.'),
  to: text(1, MAX_RECIPIENT_LENGTH).describe(
    'E-mail address, E.164 phone number, device token, Slack channel or https URL.',
  ),
  subject: text(0, MAX_SUBJECT_LENGTH)
    .optional()
    .describe('Of a mail; the title of a push message. Replaces the subject of a template.'),
  body: text(1, MAX_BODY_LENGTH)
    .optional()
    .describe('Message content, sent as it is. Required unless a template is named.'),
  template: text(1, 128)
    .optional()
    .describe('Id or name of a template; its text is used in place of `body`.'),
  variables: jsonObject
    .optional()
    .describe('Values for the placeholders of the template; refused without one where the text has `{{`.'),
  data: jsonObject.optional().describe('The same as `variables`, which wins where both name one key.'),
  format: z
    .enum(['text', 'html'])
    .optional()
    .describe('How an e-mail body is to be read; left out, the template says so, or else the source.'),
  email: emailParts.optional().describe('On `email` only. Sent as it is, also beside a template.'),
  push: pushParts.optional().describe('On `push` only. Sent as it is, also beside a template.'),
  slack: slackParts.optional().describe('On `slack` only. Sent as it is, also beside a template.'),
  sensitive: z
    .boolean()
    .optional()
    .describe('For one-time codes: the content is never shown, and is removed when delivery has ended.'),
  priority: z.enum(['normal', 'high']).optional().describe('`high` overtakes bulk. Default `normal`.'),
  sendAt: instant.optional().describe('Not before this time (ISO 8601).'),
  expiresAt: instant.optional().describe('Not handed to a provider after this time (ISO 8601).'),
})
