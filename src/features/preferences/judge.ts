import { addressHash } from '../../core/channels/address-hash.ts'
import { type Asked, GO, type Judge, type JudgeContext, type Verdict } from '../../core/gate/verdict.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import type { PreferencesInUse } from './in-use.ts'
import type { Preferences } from './model.ts'
import { type DecisionInput, decide, quietHoursOf, skipReason } from './precedence.ts'
import { quietUntil } from './quiet-hours.ts'
import {
  ownerByAddress,
  ownerByRecipient,
  ownerOrganization,
  preferenceKind,
  preferencesIn,
} from './records.ts'
import { zoneTime } from './zone-time.ts'

/**
 * Skips what people have turned off, and delays what comes in quiet hours. Messages of organizations without preferences need
 * no look-up.
 */
export function judgeByPreferences(inUse: PreferencesInUse, clock: Pick<Clock, 'now'>): Judge {
  return (asked, context) => {
    const used = usedBy(asked, context, inUse)
    return used instanceof Promise
      ? used.then((known) => judged(asked, known, context.records, clock))
      : judged(asked, used, context.records, clock)
  }
}

/** Whether the organization of each message has preferences. */
function usedBy(
  asked: readonly Asked[],
  { inside }: JudgeContext,
  inUse: PreferencesInUse,
): readonly boolean[] | Promise<readonly boolean[]> {
  const used = asked.map(({ organizationId }) => inUse.of(organizationId, inside))
  return used.some((one) => one instanceof Promise) ? Promise.all(used) : (used as readonly boolean[])
}

function judged(
  asked: readonly Asked[],
  used: readonly boolean[],
  records: RecordReads,
  clock: Pick<Clock, 'now'>,
): readonly Verdict[] | Promise<readonly Verdict[]> {
  return used.includes(true)
    ? judgedByRecords(asked, used, records, clock)
    : asked.map((message) => verdictOf(message, NONE, clock))
}

async function judgedByRecords(
  asked: readonly Asked[],
  used: readonly boolean[],
  records: RecordReads,
  clock: Pick<Clock, 'now'>,
): Promise<readonly Verdict[]> {
  const ids = asked.map((message, at) => (used[at] === true ? idsOf(message) : NO_IDS))
  const distinct = [...new Set(ids.flat())]
  const found = await records.get(
    preferenceKind,
    distinct.map((id) => ({ id })),
  )
  // A missing answer must not count as permission.
  if (found.length !== distinct.length) throw new Error(`${found.length} answers to ${distinct.length} ids.`)
  const stored = new Map(distinct.map((id, at) => [id, found[at] ?? null]))
  return asked.map((message, at) =>
    verdictOf(
      message,
      (ids[at] ?? NO_IDS).map((id) => {
        const record = stored.get(id) ?? null
        return record && preferencesIn(record)
      }),
      clock,
    ),
  )
}

const NO_IDS: readonly string[] = Object.freeze([])
const NONE: readonly (Preferences | null)[] = Object.freeze([])

/** The ids of the records that concern a message: the organization's first. */
function idsOf({ organizationId, kind, to, recipient, category }: Asked): readonly string[] {
  if (category.required) return NO_IDS
  const ids = [
    ownerOrganization(organizationId).id,
    ownerByAddress(organizationId, kind.name, addressHash(kind, to)).id,
  ]
  if (recipient !== null) ids.push(ownerByRecipient(organizationId, recipient).id)
  return ids
}

function verdictOf(
  { kind, category }: Asked,
  stored: readonly (Preferences | null)[],
  clock: Pick<Clock, 'now'>,
): Verdict {
  const [organization = null, ...others] = stored
  const person = others.filter((preferences) => preferences !== null)
  const input = { channel: kind.name, category, organization, person }
  const decidedBy = decide(input)
  if (decidedBy !== null)
    return { kind: 'skip', decidedBy, message: skipReason(decidedBy, category.id, kind.name) }
  const mayBeQuiet = category.quietHours || stored.some((preferences) => preferences?.quietHours)
  return mayBeQuiet ? delayOf(input, clock) : GO
}

function delayOf(input: DecisionInput, clock: Pick<Clock, 'now'>): Verdict {
  let verdict = GO
  for (const hours of quietHoursOf(input)) {
    const until = quietUntil(hours, clock.now())
    if (until === null || (verdict.kind === 'wait' && until <= verdict.until)) continue
    const time = new Date(zoneTime(hours.zone).readingAt(until)).toISOString().slice(11, 16)
    verdict = { kind: 'wait', until, reason: `Quiet hours until ${time} (${hours.zone}).` }
  }
  return verdict
}
