import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { RecordKind } from '../../domain/record-kind.ts'
import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../../ports/storage/accept.ts'
import type { RecordRef, StoredRecord } from '../../ports/storage/records.ts'
import { cataloguesKind } from '../languages/kind.ts'
import { createMatchPreferences, type MatchPreferences } from '../preferences/verdicts.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { sharedKind } from '../shared-texts/kind.ts'
import { createMatchSuppression, type MatchSuppression } from '../suppressions/match.ts'
import { findTemplates, type WantedTemplate } from '../templates/find-templates.ts'

/** The lookups of an accept. Equal ones of one turn of the event loop are joined. */
export interface Lookups {
  readonly reads: AcceptReads
  readonly record: Coalesced<IdempotencyKey, IdempotencyRecord | null>
  /** Reads of layouts, partials and lists of catalogues. */
  readonly records: RecordReads
  readonly template: Coalesced<WantedTemplate, Template | null>
  readonly suppression: MatchSuppression
  readonly preferences: MatchPreferences
}

export function createLookups(reads: AcceptReads): Lookups {
  const shared = coalesce((refs: readonly RecordRef[]) => reads.records.get(sharedKind, refs))
  const catalogues = coalesce((refs: readonly RecordRef[]) => reads.records.get(cataloguesKind, refs))
  return {
    records: {
      // Nothing else is read so.
      async get<Value extends object>({ name }: RecordKind<Value>, refs: readonly RecordRef[]) {
        const found = name === sharedKind.name ? refs.map(shared) : refs.map(catalogues)
        return (await Promise.all<object | null>(found)) as (StoredRecord<Value> | null)[]
      },
    },
    reads,
    record: coalesce((keys) => reads.findIdempotent(keys)),
    template: coalesce((wanted) => findTemplates(reads.records, wanted)),
    suppression: createMatchSuppression(reads.records),
    preferences: createMatchPreferences(reads.records),
  }
}
