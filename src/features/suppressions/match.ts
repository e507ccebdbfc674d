import { type Coalesced, coalesce } from '../../core/loop/coalesce.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { suppressionKind } from './records.ts'

/**
 * The reason for the entry with an id of `suppressionId`. Null: not suppressed. Rejects if that is unknown: then
 * nothing may be sent.
 */
export type MatchSuppression = Coalesced<string, SuppressionReason | null>

/** Joins simultaneous look-ups. */
export function createMatchSuppression(records: RecordReads): MatchSuppression {
  return coalesce((ids: readonly string[]) => matchSuppressions(records, ids))
}

/** In order, in one query. */
export async function matchSuppressions(
  records: RecordReads,
  ids: readonly string[],
): Promise<(SuppressionReason | null)[]> {
  const refs = ids.map((id) => ({ id }))
  const entries = await records.get(suppressionKind, refs)
  return entries.map((entry) => entry?.value.reason ?? null)
}
