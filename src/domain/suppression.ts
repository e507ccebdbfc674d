import { NotifierError } from './errors/notifier-error.ts'

/** Reasons for a suppression. */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const MESSAGES: Readonly<Record<SuppressionReason, string>> = {
  hard_bounce: 'The recipient is suppressed: an earlier message bounced for good.',
  complaint: 'The recipient is suppressed: an earlier message was reported as spam.',
  unsubscribe: 'The recipient is suppressed: it has opted out.',
  manual: 'The recipient is suppressed by hand.',
}

/** The error of a send to a suppressed recipient, and of a notification accepted before. */
export function suppressionError(reason: SuppressionReason): NotifierError {
  return new NotifierError(reason === 'unsubscribe' ? 'unsubscribed' : 'blocked_recipient', {
    message: MESSAGES[reason],
    details: { field: 'to', reason },
  })
}
