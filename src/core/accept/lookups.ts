import { cataloguesKind } from '../../features/languages/records.ts'
import { sharedKind } from '../../features/layouts/records.ts'
import { createMatchPreferences, type MatchPreferences } from '../../features/preferences/verdict.ts'
import { createMatchSuppression, type MatchSuppression } from '../../features/suppressions/match.ts'
import { type Coalesced, coalesce } from '../loop/coalesce.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../ports/storage/accept.ts'
import type { NotificationState } from '../ports/storage/notifications.ts'
import type { RecordRef, StoredRecord } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { findTemplates, type WantedTemplate } from '../text/find-templates.ts'
import type { Template } from '../text/template.ts'
import { textKind } from '../text/text-kind.ts'
import type { TextReader } from '../text/text-store.ts'

/** The lookups of an accept. Equal ones of one turn of the event loop are joined. */
export interface Lookups {
  readonly reads: AcceptReads
  readonly record: Coalesced<IdempotencyKey, IdempotencyRecord | null>
  /** The present state of a notification, by id. Null: unknown. */
  readonly state: Coalesced<string, NotificationState | null>
  /** Reads of layouts, partials, their texts, and lists of catalogues. */
  readonly records: RecordReads
  readonly template: Coalesced<WantedTemplate, Template | null>
  readonly suppression: MatchSuppression
  readonly preferences: MatchPreferences
}

/** Only these are read through {@link Lookups.records}. */
const KINDS: readonly RecordKind[] = [sharedKind, cataloguesKind, textKind]

export function createLookups(reads: AcceptReads, texts: TextReader): Lookups {
  const finds = new Map(
    KINDS.map((kind) => [kind.name, coalesce((refs: readonly RecordRef[]) => reads.records.get(kind, refs))]),
  )
  return {
    records: {
      async get<Value extends object>({ name }: RecordKind<Value>, refs: readonly RecordRef[]) {
        const found = refs.map(async (ref) => (await finds.get(name)?.(ref)) ?? null)
        return (await Promise.all<object | null>(found)) as (StoredRecord<Value> | null)[]
      },
    },
    reads,
    record: coalesce((keys) => reads.findIdempotent(keys)),
    state: coalesce((ids) => reads.notifications.states(ids)),
    template: coalesce((wanted) => findTemplates(reads.records, texts, wanted)),
    suppression: createMatchSuppression(reads.records),
    preferences: createMatchPreferences(reads.records),
  }
}
