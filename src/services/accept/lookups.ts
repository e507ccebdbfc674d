import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../../ports/storage/accept.ts'
import { createMatchSuppression, type MatchSuppression } from '../suppressions/match.ts'
import { findTemplates, type WantedTemplate } from '../templates/find-templates.ts'

/** The lookups of an accept. Equal ones of one turn of the event loop are joined. */
export interface Lookups {
  readonly reads: AcceptReads
  readonly record: Coalesced<IdempotencyKey, IdempotencyRecord | null>
  readonly template: Coalesced<WantedTemplate, Template | null>
  readonly suppression: MatchSuppression
}

export function createLookups(reads: AcceptReads): Lookups {
  return {
    reads,
    record: coalesce((keys) => reads.findIdempotent(keys)),
    template: coalesce((wanted) => findTemplates(reads.records, wanted)),
    suppression: createMatchSuppression(reads.records),
  }
}
