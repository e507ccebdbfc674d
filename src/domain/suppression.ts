import type { ChannelName } from './channel.ts'
import { NotifierError } from './errors/notifier-error.ts'
import { envelopeAddress } from './mail-parts.ts'
import { canonicalNumber } from './phone-number.ts'

/** Why an address gets nothing more. */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const BEYOND_ASCII = /[^\0-\x7f]/

/**
 * The form in which an address is kept and looked for, so that another spelling does not get around the list. Mail servers
 * take `Ada@` and `ada@` for one mailbox, and a domain is the same in Unicode and in punycode; a phone number is the same
 * with and without a trunk prefix. A device token or a URL of another case is another one.
 */
export function suppressedAddress(channel: ChannelName, to: string): string {
  if (channel === 'sms') return canonicalNumber(to)
  if (channel !== 'email') return to
  const address = BEYOND_ASCII.test(to) ? (envelopeAddress(to) ?? to) : to
  return address.toLowerCase()
}

const MESSAGES: Readonly<Record<SuppressionReason, string>> = {
  hard_bounce: 'The recipient is suppressed: an earlier message bounced for good.',
  complaint: 'The recipient is suppressed: an earlier message was reported as spam.',
  unsubscribe: 'The recipient is suppressed: it has opted out.',
  manual: 'The recipient is suppressed by hand.',
}

/** How a send to a suppressed recipient is refused, and how one ends that was accepted before. */
export function suppressionError(reason: SuppressionReason): NotifierError {
  return new NotifierError(reason === 'unsubscribe' ? 'unsubscribed' : 'blocked_recipient', {
    message: MESSAGES[reason],
    details: { field: 'to', reason },
  })
}
