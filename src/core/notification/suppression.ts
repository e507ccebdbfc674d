import { NotifierError } from '../errors/notifier-error.ts'

/**
 * Reasons for a suppression. `stop`: the recipient replied STOP, or the carrier or provider knows about such an
 * opt-out; it blocks every message, as a bounce does. `unsubscribe`: it has unsubscribed from everything, which a
 * required category overrides.
 */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'stop', 'unsubscribe', 'manual'] as const

export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const MESSAGES: Readonly<Record<SuppressionReason, string>> = {
  hard_bounce: 'The recipient is suppressed: an earlier message bounced for good.',
  complaint: 'The recipient is suppressed: an earlier message was reported as spam.',
  stop: 'The recipient is suppressed: it has opted out on this channel, with STOP for example.',
  unsubscribe: 'The recipient is suppressed: it has unsubscribed.',
  manual: 'The recipient is suppressed by hand.',
}

const OPT_OUTS: ReadonlySet<SuppressionReason> = new Set(['stop', 'unsubscribe'])

/** The error of a send to a suppressed recipient, and of a notification accepted before. */
export function suppressionError(reason: SuppressionReason): NotifierError {
  return new NotifierError(OPT_OUTS.has(reason) ? 'unsubscribed' : 'blocked_recipient', {
    message: MESSAGES[reason],
    details: { field: 'to', reason },
  })
}
