import type { KeepingInsert, RecordInsert } from '../ports/storage/records.ts'
import type { Audit, Audited } from './audit.ts'

/** The entry about a changed record. None if no field of it differs. */
export function auditedChange(
  audit: Audit,
  change: Audited & { readonly before: object; readonly after: object },
): readonly RecordInsert[] {
  const entry = audit.entry(change)
  return entry.value.changed.length === 0 ? [] : [entry]
}

/** Entries for a commit in which no record is refused. */
export function keeping(entries: readonly RecordInsert[]): readonly KeepingInsert[] {
  return entries.map((entry) => ({ ...entry, ifTaken: 'keep' }))
}
