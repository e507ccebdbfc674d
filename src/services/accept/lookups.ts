import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../../ports/storage/accept.ts'
import { createMatchSuppression, type MatchSuppression } from '../suppressions/match.ts'
import { findTemplates, type WantedTemplate } from './find-templates.ts'

/** What an accept looks up; what several ask for in one turn is one look-up. */
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
    template: coalesce((wanted) => findTemplates(reads, wanted)),
    suppression: createMatchSuppression(reads),
  }
}
