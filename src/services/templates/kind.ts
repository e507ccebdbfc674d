import type { TemplateReference } from '../../domain/notification.ts'
import type { RecordKind } from '../../domain/record-kind.ts'
import type { Template } from '../../domain/template/template.ts'
import type { RecordInsert, RecordRef, StoredRecord } from '../../ports/storage/records.ts'

/** The stored value of a template: its newest version. */
export interface TemplateValue
  extends Omit<Template, 'id' | 'organizationId' | 'createdAt' | 'updatedAt' | 'made'> {
  /** Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** Its key is the name within the organization. */
export const templateKind: RecordKind<TemplateValue> = {
  name: 'templates',
  version: 1,
  key: ({ name }, organizationId) => keyOf(organizationId, name),
}

/** A version as it was made. It outlives changes and the deletion of its template. */
export interface VersionValue extends TemplateValue {
  /** Id of the template. */
  readonly template: string
}

export const versionKind: RecordKind<VersionValue> = {
  name: 'template_versions',
  version: 1,
  list: ({ template }) => template,
}

/** Identifies a version of a template. */
export interface TemplateVersion {
  readonly id: string
  readonly version: number
}

/** The part of a template for a notification: its version, and those of its layout and partials. */
export function referenceOf({ id, name, version, made }: Template): TemplateReference {
  return made === undefined ? { id, name, version } : { id, name, version, texts: made.pinned }
}

/** Names have no underscore, so no name looks like an id. */
export function templateRef(organizationId: string, idOrName: string): RecordRef {
  return idOrName.startsWith('tpl_') ? { id: idOrName } : { key: keyOf(organizationId, idOrName) }
}

export function versionId({ id, version }: TemplateVersion): string {
  return `${id}@${version}`
}

/** Stores the version that a template has. */
export function insertVersion(
  id: string,
  organizationId: string | null,
  value: TemplateValue,
): RecordInsert<VersionValue> {
  return {
    kind: versionKind,
    do: 'insert',
    id: versionId({ id, version: value.version }),
    organizationId,
    value: { ...value, template: id },
  }
}

export function toTemplate({ id, organizationId, createdAt, value }: StoredRecord<TemplateValue>): Template {
  const updatedAt = value.updatedAt ?? createdAt
  return { ...value, id, organizationId: organizationId ?? '', createdAt, updatedAt }
}

/** The template as it was in a version. */
export function versionOf({ value, ...record }: StoredRecord<VersionValue>): Template {
  const { template: id, ...rest } = value
  return toTemplate({ ...record, id, value: rest })
}

function keyOf(organizationId: string | null, name: string): string {
  return `${organizationId}\n${name}`
}
