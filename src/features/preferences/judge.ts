import { addressHash } from '../../core/channels/address-hash.ts'
import { type Asked, GO, type Judge, type JudgeContext, type Verdict } from '../../core/gate/verdict.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import type { PreferencesInUse } from './in-use.ts'
import type { Preferences } from './model.ts'
import { decide, skipReason } from './precedence.ts'
import {
  ownerByAddress,
  ownerByRecipient,
  ownerOrganization,
  preferenceKind,
  preferencesIn,
} from './records.ts'

/** Skips what people have turned off. Messages of organizations without preferences need no look-up. */
export function judgeByPreferences(inUse: PreferencesInUse): Judge {
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

function judged(
  asked: readonly Asked[],
  used: readonly boolean[],
  records: RecordReads,
): readonly Verdict[] | Promise<readonly Verdict[]> {
  return used.includes(true)
    ? judgedByRecords(asked, used, records)
    : asked.map((message) => verdictOf(message, NONE))
}

async function judgedByRecords(
  asked: readonly Asked[],
  used: readonly boolean[],
  records: RecordReads,
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

function verdictOf({ kind, category }: Asked, stored: readonly (Preferences | null)[]): Verdict {
  const [organization = null, ...person] = stored
  const known = person.filter((preferences) => preferences !== null)
  const decidedBy = decide({ channel: kind.name, category, organization, person: known })
  if (decidedBy === null) return GO
  return { kind: 'skip', decidedBy, message: skipReason(decidedBy, category.id, kind.name) }
}
