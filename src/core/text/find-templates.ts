import type { StoredRecord } from '../ports/storage/records.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { type StoredTemplate, templateKind, templateRef, templateShape, toTemplate } from './kind.ts'
import type { Template } from './template.ts'
import type { TextReader } from './text-store.ts'

export interface WantedTemplate {
  readonly organizationId: string
  /** Name or id. */
  readonly reference: string
}

/** Finds templates without their texts in one query, in order. Null: the organization has none. */
export async function findStored(
  records: RecordReads,
  wanted: readonly WantedTemplate[],
): Promise<(StoredRecord<StoredTemplate> | null)[]> {
  const refs = wanted.map(({ organizationId, reference }) => templateRef(organizationId, reference))
  const found = await records.get(templateKind, refs)
  return found.map((record, index) =>
    record?.organizationId === wanted[index]?.organizationId ? record : null,
  )
}

/** Finds templates in one query, and in a second one the texts that are in no cache. Null: the organization has none. */
export async function findTemplates(
  records: RecordReads,
  { read }: TextReader,
  wanted: readonly WantedTemplate[],
): Promise<(Template | null)[]> {
  const found = await read(templateShape, await findStored(records, wanted), records)
  return found.map((record) => record && toTemplate(record))
}
