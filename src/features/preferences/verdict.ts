import type { Verdict } from '../../core/accept/verdict.ts'
import { addressHash } from '../../core/channels/address-hash.ts'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import { type Coalesced, coalesce } from '../../core/loop/coalesce.ts'
import type { Category } from '../../core/notification/category.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { type MatchSuppression, matchSuppressions, suppressionId } from '../suppressions/index.ts'
import type { Preferences } from './model.ts'
import { decide } from './precedence.ts'
import {
  ownerByAddress,
  ownerByRecipient,
  ownerOrganization,
  preferenceKind,
  preferencesIn,
} from './records.ts'

/** The preferences in the record with an id. Null: none. */
export type MatchPreferences = Coalesced<string, Preferences | null>

/** A message whose recipient may have opted out. */
export interface AskedMessage {
  readonly organizationId: string
  readonly kind: ChannelKind
  readonly to: string
  /** The application's id of the person. Null: unknown. */
  readonly recipient: string | null
  readonly category: Category
}

/** The look-ups for one verdict. Simultaneous ones are joined. */
export interface VerdictLookups {
  readonly suppression: MatchSuppression
  readonly preferences: MatchPreferences
}

/** Joins simultaneous look-ups. */
export function createMatchPreferences(records: RecordReads): MatchPreferences {
  return coalesce((ids: readonly string[]) => matchPreferences(records, ids))
}

/** In order, in one query. */
async function matchPreferences(
  records: RecordReads,
  ids: readonly string[],
): Promise<(Preferences | null)[]> {
  const found = await records.get(
    preferenceKind,
    ids.map((id) => ({ id })),
  )
  // A missing answer must not count as permission.
  if (found.length !== ids.length) throw new Error(`${found.length} answers to ${ids.length} ids.`)
  return found.map((record) => record && preferencesIn(record))
}

/** The ids of the records that concern a message: the organization's first. */
function idsOf({ organizationId, kind, to, recipient }: AskedMessage): readonly string[] {
  const ids = [
    ownerOrganization(organizationId).id,
    ownerByAddress(organizationId, kind.name, addressHash(kind, to)).id,
  ]
  if (recipient !== null) ids.push(ownerByRecipient(organizationId, recipient).id)
  return ids
}

const NONE: readonly (Preferences | null)[] = Object.freeze([])

function verdictOf(
  { kind, category }: AskedMessage,
  suppression: SuppressionReason | null,
  stored: readonly (Preferences | null)[],
): Verdict {
  const [organization = null, ...person] = stored
  const known = person.filter((preferences) => preferences !== null)
  return decide({ channel: kind.name, category, suppression, organization, person: known })
}

/**
 * Whether a message may be sent now. Rejects if that is unknown: then nothing may be sent.
 *
 * @param inUse false: the organization has no preferences, so that they need no look-up
 */
export function verdict(
  message: AskedMessage,
  { suppression, preferences }: VerdictLookups,
  inUse: boolean,
): Promise<Verdict> {
  const { kind, organizationId, to } = message
  const reason = suppression(suppressionId(kind, organizationId, to))
  if (!inUse) return reason.then((found) => verdictOf(message, found, NONE))
  const stored = Promise.all(idsOf(message).map((id) => preferences(id)))
  return Promise.all([reason, stored]).then(([found, records]) => verdictOf(message, found, records))
}

/** Like {@link verdict} of each, in order, in two queries. */
export async function verdicts(
  messages: readonly AskedMessage[],
  records: RecordReads,
  inUse: boolean,
): Promise<readonly Verdict[]> {
  const suppressed = messages.map(({ kind, organizationId, to }) => suppressionId(kind, organizationId, to))
  const wanted = inUse ? messages.map(idsOf) : []
  const distinct = [...new Set(wanted.flat())]
  const [reasons, found] = await Promise.all([
    suppressed.length === 0 ? [] : matchSuppressions(records, suppressed),
    distinct.length === 0 ? [] : matchPreferences(records, distinct),
  ])
  const stored = new Map(distinct.map((id, at) => [id, found[at] ?? null]))
  return messages.map((message, at) => {
    const reason = reasons[at]
    // A missing answer must not count as permission.
    if (reason === undefined)
      throw new Error(`${reasons.length} answers to ${messages.length} suppression ids.`)
    return verdictOf(
      message,
      reason,
      (wanted[at] ?? []).map((id) => stored.get(id) ?? null),
    )
  })
}
