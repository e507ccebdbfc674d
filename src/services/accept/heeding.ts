import type { NewNotification } from '../../domain/notification.ts'
import type { Verdict } from '../../domain/preferences/precedence.ts'
import { suppressionError } from '../../domain/suppression.ts'
import type { Group } from './prepare.ts'

/**
 * A group of notifications as their verdicts want them stored. One that a preference turns off is accepted, counts
 * against no quota, and ends as `skipped`, even if the preference changes until then: otherwise it would be sent without
 * being counted. Of several addresses one suffices: an attempt to a suppressed one fails.
 *
 * @param verdicts in order; undefined: it has no address, and will be skipped
 * @throws NotifierError `blocked_recipient`, `unsubscribed` if all addresses are suppressed
 */
export function heeding(group: Group, verdicts: readonly (Verdict | undefined)[]): Group {
  const [first] = verdicts
  if (first?.kind === 'blocked' && verdicts.every((verdict) => verdict?.kind === 'blocked'))
    throw suppressionError(first.reason)
  const [one, ...others] = group
  return [heedingOne(one, first), ...others.map((other, at) => heedingOne(other, verdicts[at + 1]))]
}

function heedingOne(notification: NewNotification, verdict: Verdict | undefined): NewNotification {
  if (verdict?.kind !== 'skip') return notification
  const content = { ...notification.content, turnedOff: verdict.decidedBy }
  return { ...notification, content, addressees: 0 }
}
