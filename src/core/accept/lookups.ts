import type { Gate } from '../gate/gate.ts'
import type { Asked, Verdict } from '../gate/verdict.ts'
import { type Coalesced, coalesce } from '../loop/coalesce.ts'
import type { AcceptReads, IdempotencyKey, IdempotencyRecord } from '../ports/storage/accept.ts'
import type { NotificationState } from '../ports/storage/notifications.ts'
import type { RecordRef, StoredRecord } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { findTemplates, type WantedTemplate } from '../text/find-templates.ts'
import type { Template } from '../text/template.ts'
import type { TextReader } from '../text/text-store.ts'

/** The lookups of an accept. Equal ones of one turn of the event loop are joined. */
export interface Lookups {
  readonly reads: AcceptReads
  readonly record: Coalesced<IdempotencyKey, IdempotencyRecord | null>
  /** The present state of a notification, by id. Null: unknown. */
  readonly state: Coalesced<string, NotificationState | null>
  /** Reads of records, joined by kind. */
  readonly records: RecordReads
  readonly template: Coalesced<WantedTemplate, Template | null>
  /** Whether a message may go. */
  readonly verdict: Coalesced<Asked, Verdict>
  /** The same of many, in order. */
  verdicts(asked: readonly Asked[]): Promise<readonly Verdict[]>
}

/** @param inside in a transaction of the caller */
export function createLookups(reads: AcceptReads, texts: TextReader, gate: Gate, inside = false): Lookups {
  const verdicts = (asked: readonly Asked[]) => gate(asked, { records: reads.records, inside })
  return {
    records: joinedByKind(reads.records),
    reads,
    record: coalesce((keys) => reads.findIdempotent(keys)),
    state: coalesce((ids) => reads.notifications.states(ids)),
    template: coalesce((wanted) => findTemplates(reads.records, texts, wanted)),
    verdict: coalesce(verdicts),
    verdicts,
  }
}

function joinedByKind(records: RecordReads): RecordReads {
  const finds = new Map<string, Coalesced<RecordRef, StoredRecord<object> | null>>()

  function findOf(kind: RecordKind): Coalesced<RecordRef, StoredRecord<object> | null> {
    const known = finds.get(kind.name)
    if (known !== undefined) return known
    const find = coalesce((refs: readonly RecordRef[]) => records.get(kind, refs))
    finds.set(kind.name, find)
    return find
  }

  return {
    async get<Value extends object>(kind: RecordKind<Value>, refs: readonly RecordRef[]) {
      return (await Promise.all(refs.map(findOf(kind)))) as (StoredRecord<Value> | null)[]
    },
  }
}
