import type { Template } from '../../domain/template/template.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { templateKind, templateRef, toTemplate } from './kind.ts'

export interface WantedTemplate {
  readonly organizationId: string
  /** Name or id. */
  readonly reference: string
}

/** Finds templates in one query, in order. Null: the organization has none. */
export async function findTemplates(
  records: RecordReads,
  wanted: readonly WantedTemplate[],
): Promise<(Template | null)[]> {
  const refs = wanted.map(({ organizationId, reference }) => templateRef(organizationId, reference))
  const found = await records.get(templateKind, refs)
  return found.map((record, index) =>
    record?.organizationId === wanted[index]?.organizationId ? record && toTemplate(record) : null,
  )
}
