import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../../ports/storage/accept.ts'
import type { RecordRef } from '../../ports/storage/records.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { sharedKind } from '../shared-texts/kind.ts'
import { createMatchSuppression, type MatchSuppression } from '../suppressions/match.ts'
import { findTemplates, type WantedTemplate } from '../templates/find-templates.ts'

/** The lookups of an accept. Equal ones of one turn of the event loop are joined. */
export interface Lookups {
  readonly reads: AcceptReads
  readonly record: Coalesced<IdempotencyKey, IdempotencyRecord | null>
  /** Reads of layouts and partials. */
  readonly records: RecordReads
  readonly template: Coalesced<WantedTemplate, Template | null>
  readonly suppression: MatchSuppression
}

export function createLookups(reads: AcceptReads): Lookups {
  const shared = coalesce((refs: readonly RecordRef[]) => reads.records.get(sharedKind, refs))
  return {
    records: {
      // Only layouts and partials are read so.
      get: async (_, refs) => (await Promise.all(refs.map(shared))) as never,
    },
    reads,
    record: coalesce((keys) => reads.findIdempotent(keys)),
    template: coalesce((wanted) => findTemplates(reads.records, wanted)),
    suppression: createMatchSuppression(reads.records),
  }
}
