import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Asked, Verdict } from '../gate/verdict.ts'
import { bytesOf } from '../input/bounds.ts'
import type { Category } from '../notification/category.ts'
import type { NewNotification, Skip, Wait } from '../notification/notification.ts'
import { removedContent } from '../notification/sensitive.ts'
import type { DelayedSend } from './model.ts'
import type { AcceptServices, Group } from './prepare.ts'

/**
 * Maximum stored bytes of the content of a message that a preference turned off: no monthly quota limits their number.
 */
const MOST_KEPT_BYTES = 16_384

type Naming = Pick<AcceptServices, 'registry' | 'hashes'>

/** The question whether a message may go to its recipient, at the time for which it is planned. */
export function askedAbout(
  organizationId: string,
  kind: ChannelKind,
  message: Pick<NewNotification, 'to' | 'recipient' | 'metadata' | 'sendAt'>,
  category: Category,
  now: number,
): Asked {
  const { to, recipient = null, metadata = null, sendAt } = message
  const at = Math.max(now, sendAt ?? now)
  return { organizationId, kind, to, recipient, category, metadata, at, copy: false }
}

/**
 * Applies verdicts to a group of notifications before it is stored. One that is skipped is accepted, counts against no quota,
 * and ends as `skipped`, even if the preference changes until then: otherwise it would be sent without being counted. One
 * that must wait has its first attempt then. One address that is not refused suffices: attempts to the others fail.
 *
 * @param verdicts in order; undefined: it has no address, and will be skipped
 * @throws NotifierError `blocked_recipient`, `unsubscribed`, or the code of a plug-in, if all addresses are refused
 */
export function applyVerdicts(
  group: Group,
  verdicts: readonly (Verdict | undefined)[],
  services: Naming,
): Group {
  const [first] = verdicts
  if (first?.kind === 'refuse' && verdicts.every((verdict) => verdict?.kind === 'refuse')) throw first.error
  const [one, ...others] = group
  return [
    applyVerdict(one, first, services),
    ...others.map((other, at) => applyVerdict(other, verdicts[at + 1], services)),
  ]
}

function applyVerdict(
  notification: NewNotification,
  verdict: Verdict | undefined,
  services: Naming,
): NewNotification {
  if (verdict?.kind === 'skip') return skipped(notification, verdict)
  return verdict?.kind === 'wait' ? delayed(notification, verdict, services) : notification
}

function skipped(notification: NewNotification, { decidedBy, message }: Skip): NewNotification {
  const { content } = notification
  const turnedOff = { turnedOff: { decidedBy, message } }
  if (bytesOf(JSON.stringify(content)) <= MOST_KEPT_BYTES)
    return { ...notification, content: { ...content, ...turnedOff }, addressees: 0 }
  const removed = { ...removedContent(content), ...turnedOff }
  return { ...notification, content: removed, uploads: undefined, copies: undefined, addressees: 0 }
}

/** Due no later than it expires, because it ends then. Judges may compute with fractions of a millisecond. */
function delayed(notification: NewNotification, wait: Wait, { registry, hashes }: Naming): NewNotification {
  const { content, channel, to, recipient = null, sendAt, expiresAt } = notification
  const { reason } = wait
  const until = Math.ceil(wait.until)
  if (until <= (sendAt ?? 0)) return notification
  const dueAt = Math.min(until, expiresAt ?? until)
  const delayedFor = { address: hashes.addressName(registry.kinds.of(channel), to), recipient }
  return { ...notification, content: { ...content, delayed: { until, reason } }, dueAt, delayedFor }
}

/** Why a notification that verdicts were applied to waits. Null: it does not, or for its own time only. */
export function delayOf({ content: { delayed }, expiresAt }: NewNotification): DelayedSend | null {
  if (delayed === undefined) return null
  const { until, reason: message } = delayed
  return { until: new Date(until).toISOString(), message, expires: expiresAt !== null && expiresAt <= until }
}
