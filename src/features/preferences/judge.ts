import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Asked, GO, type Judge, type JudgeContext, type Verdict } from '../../core/gate/verdict.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
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

type JudgeClock = Pick<Clock, 'monotonic'>

/** Time for quiet hours in one turn of the event loop. */
const SLICE_MS = 4

/**
 * Skips what people have turned off, and delays what comes in quiet hours. Messages of organizations without preferences need
 * no look-up.
 */
export function judgeByPreferences(inUse: PreferencesInUse, hashes: PersonHashes, clock: JudgeClock): Judge {
  function judged(
    asked: readonly Asked[],
    used: readonly boolean[],
    records: RecordReads,
  ): readonly Verdict[] | Promise<readonly Verdict[]> {
    if (!used.includes(true)) return verdictsOf(asked, () => NONE, clock)
    const ids = asked.map((message, at) => (used[at] === true ? idsOf(message, hashes) : NO_IDS))
    return judgedByRecords(asked, ids, records, clock)
  }

  return (asked, context) => {
    const used = usedBy(asked, context, inUse)
    return used instanceof Promise
      ? used.then((known) => judged(asked, known, context.records))
      : judged(asked, used, context.records)
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

/** @param ids those of the records that concern each message */
async function judgedByRecords(
  asked: readonly Asked[],
  ids: readonly (readonly string[])[],
  records: RecordReads,
  clock: JudgeClock,
): Promise<readonly Verdict[]> {
  const distinct = [...new Set(ids.flat())]
  const found = await records.get(
    preferenceKind,
    distinct.map((id) => ({ id })),
  )
  // A missing answer must not count as permission.
  if (found.length !== distinct.length) throw new Error(`${found.length} answers to ${distinct.length} ids.`)
  const stored = new Map(distinct.map((id, at) => [id, found[at] ?? null]))
  const preferencesOf = (id: string) => {
    const record = stored.get(id) ?? null
    return record && preferencesIn(record)
  }
  return verdictsOf(asked, (at) => (ids[at] ?? NO_IDS).map(preferencesOf), clock)
}

/** Synchronous unless quiet hours take long. @param storedOf the preferences that concern the message at an index */
function verdictsOf(
  asked: readonly Asked[],
  storedOf: (at: number) => readonly (Preferences | null)[],
  clock: JudgeClock,
): readonly Verdict[] | Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []

  /** True: all are judged. */
  function slice(): boolean {
    let began: number | null = null
    for (const message of asked.slice(verdicts.length)) {
      const stored = storedOf(verdicts.length)
      const mayWait = mayBeQuiet(message, stored)
      if (mayWait) began ??= clock.monotonic()
      verdicts.push(verdictOf(message, stored, mayWait))
      if (mayWait && began !== null && clock.monotonic() - began >= SLICE_MS)
        return verdicts.length === asked.length
    }
    return true
  }

  async function rest(): Promise<readonly Verdict[]> {
    do await nextTurn()
    while (!slice())
    return verdicts
  }

  return slice() ? verdicts : rest()
}

const NO_IDS: readonly string[] = Object.freeze([])
const NONE: readonly (Preferences | null)[] = Object.freeze([])

/** The ids of the records that concern a message: the organization's first. */
function idsOf(
  { organizationId, kind, to, recipient, category }: Asked,
  hashes: PersonHashes,
): readonly string[] {
  if (category.required) return NO_IDS
  const ids = [
    ownerOrganization(organizationId).id,
    ownerByAddress(organizationId, kind.name, hashes.address(kind, to)).id,
  ]
  if (recipient !== null) ids.push(ownerByRecipient(hashes, organizationId, recipient).id)
  return ids
}

function mayBeQuiet({ category }: Asked, stored: readonly (Preferences | null)[]): boolean {
  return Boolean(category.quietHours) || stored.some((preferences) => preferences?.quietHours)
}

/** @param mayWait whether quiet hours may apply */
function verdictOf(
  { kind, category, at }: Asked,
  stored: readonly (Preferences | null)[],
  mayWait: boolean,
): Verdict {
  const [organization = null, ...others] = stored
  const person = others.filter((preferences) => preferences !== null)
  const input = { channel: kind.name, category, organization, person }
  const decidedBy = decide(input)
  if (decidedBy !== null)
    return { kind: 'skip', decidedBy, message: skipReason(decidedBy, category.id, kind.name) }
  return mayWait ? delayOf(input, at) : GO
}

function delayOf(input: DecisionInput, at: number): Verdict {
  let verdict = GO
  for (const hours of quietHoursOf(input)) {
    const end = quietUntil(hours, at)
    if (end === null || (verdict.kind === 'wait' && end.at <= verdict.until)) continue
    verdict = { kind: 'wait', until: end.at, reason: `Quiet hours until ${end.shown} (${hours.zone}).` }
  }
  return verdict
}
