import * as z from 'zod'
import { httpsUrl } from '../input/https-url.ts'
import { agreeing } from '../rest/named.ts'
import type { ChannelKind } from './channel-kind.ts'
import type { NumberCheck } from './phone-number.ts'
import { phoneRecipient } from './phone-recipient.ts'
import { smsLint } from './sms-lint.ts'
import { boundedSmsText, smsText } from './sms-segments.ts'

/** Parts of a text message besides its text. */
export interface SmsContent {
  /**
   * Sender: a number in E.164 form, a short code of 3 to 8 digits, or a name of at most 11 letters, digits, spaces and
   * `+ - _ &` with a letter. A provider must have it as its own sender or in its option `senders`. Default: the
   * provider's own.
   */
  readonly from?: string | undefined
  /**
   * Media of an MMS: 1 to 10 https URLs, which the provider loads. A message with media needs no text. Only some
   * providers carry media; see docs/reference/channels.md.
   */
  readonly media?: readonly string[] | undefined
}

export type SmsKind = ChannelKind<'sms', SmsContent>

const MAX_MEDIA = 10

/** A number in E.164 form, a short code, or a name that contains a letter. */
export const smsSender: z.ZodType<string, string> = z
  .string()
  .regex(
    /^(?:\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])(?=\S)[A-Za-z0-9 +_&-]{1,11}(?<=\S))$/,
    'must be a number such as +14155550123, a short code of 3 to 8 digits, or a name of at most 11 characters with a letter',
  )

const smsParts = z.strictObject({
  from: smsSender
    .optional()
    .describe('Sender: a number in E.164 form, a short code or a name. A provider must allow it.'),
  media: z
    .array(httpsUrl)
    .min(1)
    .max(MAX_MEDIA)
    .optional()
    .describe('Media of an MMS: https URLs, at most 10. Only some providers carry media.'),
})

/** The SMS kind with a notifier's options. */
export function smsKind(options: {
  readonly maxSmsSegments: number
  readonly smsNumbers: NumberCheck
}): SmsKind {
  const { maxSmsSegments, smsNumbers } = options
  return {
    name: 'sms',
    ...phoneRecipient(smsNumbers, false),
    stops: true,
    parts: agreeing(smsParts),
    // Carriers charge for empty texts too.
    isBlank: ({ body, parts }) => body.trim() === '' && parts?.media === undefined,
    assertText: ({ body }) => {
      boundedSmsText(body, maxSmsSegments)
    },
    measure: ({ body }) => smsText(body),
    lint: smsLint,
  }
}
