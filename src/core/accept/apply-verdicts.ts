import { bytesOf } from '../input/bounds.ts'
import type { NewNotification } from '../notification/notification.ts'
import { removedContent } from '../notification/sensitive.ts'
import { suppressionError } from '../notification/suppression.ts'
import type { Group } from './prepare.ts'
import type { Verdict } from './verdict.ts'

/** Bytes of the stored content that a message keeps which a preference turns off: no monthly quota limits how many. */
const MOST_KEPT_BYTES = 16_384

/**
 * A group of notifications as their verdicts want them stored. One that a preference turns off is accepted, counts
 * against no quota, and ends as `skipped`, even if the preference changes until then: otherwise it would be sent without
 * being counted. Of several addresses one suffices: an attempt to a suppressed one fails.
 *
 * @param verdicts in order; undefined: it has no address, and will be skipped
 * @throws NotifierError `blocked_recipient`, `unsubscribed` if all addresses are suppressed
 */
export function applyVerdicts(group: Group, verdicts: readonly (Verdict | undefined)[]): Group {
  const [first] = verdicts
  if (first?.kind === 'blocked' && verdicts.every((verdict) => verdict?.kind === 'blocked'))
    throw suppressionError(first.reason)
  const [one, ...others] = group
  return [applyVerdict(one, first), ...others.map((other, at) => applyVerdict(other, verdicts[at + 1]))]
}

function applyVerdict(notification: NewNotification, verdict: Verdict | undefined): NewNotification {
  if (verdict?.kind !== 'skip') return notification
  const { content } = notification
  const turnedOff = { turnedOff: verdict.decidedBy }
  if (bytesOf(JSON.stringify(content)) <= MOST_KEPT_BYTES)
    return { ...notification, content: { ...content, ...turnedOff }, addressees: 0 }
  const removed = { ...removedContent(content), ...turnedOff }
  return { ...notification, content: removed, uploads: undefined, addressees: 0 }
}
