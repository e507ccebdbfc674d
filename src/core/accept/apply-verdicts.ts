import { bytesOf } from '../input/bounds.ts'
import type { NewNotification } from '../notification/notification.ts'
import { removedContent } from '../notification/sensitive.ts'
import { suppressionError } from '../notification/suppression.ts'
import type { Group } from './prepare.ts'
import type { Verdict } from './verdict.ts'

/**
 * Maximum stored bytes of the content of a message that a preference turned off: no monthly quota limits their number.
 */
const MOST_KEPT_BYTES = 16_384

/**
 * Applies verdicts to a group of notifications before it is stored. One that a preference turns off is accepted, counts
 * against no quota, and ends as `skipped`, even if the preference changes until then: otherwise it would be sent
 * without being counted. One address that is not suppressed suffices: attempts to the others fail.
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
