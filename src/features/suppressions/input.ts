import * as z from 'zod'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import { channel, text } from '../../core/input/fields.ts'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../core/notification/suppression.ts'
import { namedInput } from '../../core/rest/named.ts'

/** An address on a channel. */
export interface SuppressionTarget {
  readonly channel: string
  /** Recipient, as in a send. E-mail addresses are case-insensitive. */
  readonly to: string
}

/** Input for an entry of the suppression list. */
export interface SuppressionInput extends SuppressionTarget {
  /** Default `manual`. */
  readonly reason?: SuppressionReason | undefined
  /** Origin of the entry, for people; at most 200 characters. */
  readonly source?: string | null | undefined
}

const to = text(1, MAX_RECIPIENT_LENGTH).describe(
  'Recipient, as in a send. E-mail addresses are case-insensitive.',
)

export const suppressionTarget: z.ZodType<SuppressionTarget, SuppressionTarget> = z.object({ channel, to })

export const suppressionInput: z.ZodType<SuppressionInput, SuppressionInput> = namedInput(
  'SuppressionRequest',
  z.object({
    channel,
    to,
    reason: z.enum(SUPPRESSION_REASONS).optional().describe('Reason for the suppression. Default `manual`.'),
    source: text(1, 200).nullish().describe('Origin of the entry, for people.'),
  }),
)
