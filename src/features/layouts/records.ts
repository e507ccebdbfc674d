import type { AuditActor } from '../../core/audit/audit.ts'
import type { RecordInsert, RecordRef, StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import type { SharedRole, SharedSource, SharedText } from '../../core/text/shared-text.ts'
import type { Text } from '../../core/text/text-kind.ts'
import type { TextShape } from '../../core/text/text-store.ts'

interface SourcesOf<Form> {
  readonly html: Form | null
  readonly text: Form | null
}

interface SharedValueOf<Form>
  extends Omit<SharedText, 'id' | 'organizationId' | 'createdAt' | 'updatedAt' | keyof SharedSource>,
    SourcesOf<Form> {
  /** Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** The value of a layout or partial: its newest version. */
export interface SharedValue extends SharedValueOf<string> {}

/** It as it is stored. */
export interface StoredShared extends SharedValueOf<Text> {}

/** Its key is the name among the layouts, or partials, of the organization. */
export const sharedKind: RecordKind<StoredShared> = {
  name: 'shared_texts',
  version: 1,
  notPersonal: 'text for all',
  key: ({ role, name }, organizationId) => keyOf(organizationId, role, name),
  list: ({ role }) => role,
}

/** A version as it was made, without a description. It outlives changes and the deletion of its layout or partial. */
interface SharedVersionOf<Form> extends SharedValueOf<Form> {
  /** Id of the layout or partial. */
  readonly of: string
  /** Who made it. Absent: made before authors were kept. */
  readonly author?: AuditActor | undefined
}

export interface SharedVersionValue extends SharedVersionOf<string> {}

/** It as it is stored. */
export interface StoredSharedVersion extends SharedVersionOf<Text> {}

export const sharedVersionKind: RecordKind<StoredSharedVersion> = {
  name: 'shared_text_versions',
  version: 1,
  notPersonal: 'text for all, which names its author on purpose',
  list: ({ of }) => of,
}

export const sharedShape: TextShape<SharedValue, StoredShared> = {
  kind: sharedKind,
  ownerOf: ({ id }) => id,
  textsOf: sourcesOf,
  whole: withSources,
  stored: withSources,
}

export const sharedVersionShape: TextShape<SharedVersionValue, StoredSharedVersion> = {
  kind: sharedVersionKind,
  ownerOf: ({ value }) => value.of,
  textsOf: sourcesOf,
  whole: withSources,
  stored: withSources,
}

function sourcesOf<Form>({ html, text }: SourcesOf<Form>): (Form | null)[] {
  return [html, text]
}

/** The value with its sources in another form. */
function withSources<From, To, Value extends SourcesOf<From>>(
  value: Value & SourcesOf<From>,
  form: (text: From) => To,
): Omit<Value, keyof SourcesOf<From>> & SourcesOf<To> {
  const { html, text } = value
  return { ...value, html: html === null ? null : form(html), text: text === null ? null : form(text) }
}

const PREFIXES = { layout: 'lay', partial: 'part' } as const

export function prefixOf(role: SharedRole): 'lay' | 'part' {
  return PREFIXES[role]
}

/** By name, as texts name each other: no id, which could be another organization's. */
export function sharedByName(organizationId: string, role: SharedRole, name: string): RecordRef {
  return { key: keyOf(organizationId, role, name) }
}

/** The record may be another organization's. Names have no underscore, so no name looks like an id. */
export function sharedRef(organizationId: string, role: SharedRole, idOrName: string): RecordRef {
  return idOrName.startsWith(`${PREFIXES[role]}_`)
    ? { id: idOrName }
    : sharedByName(organizationId, role, idOrName)
}

export function sharedVersionId(id: string, version: number): string {
  return `${id}@${version}`
}

/** Stores the version that a layout or partial has. */
export function insertSharedVersion(
  id: string,
  organizationId: string | null,
  value: StoredShared,
  author: AuditActor,
): RecordInsert<StoredSharedVersion> {
  return {
    kind: sharedVersionKind,
    do: 'insert',
    id: sharedVersionId(id, value.version),
    organizationId,
    value: { ...value, description: null, of: id, author },
  }
}

export function toShared({ id, organizationId, createdAt, value }: StoredRecord<SharedValue>): SharedText {
  return { ...value, id, organizationId, createdAt, updatedAt: value.updatedAt ?? createdAt }
}

/** The layout or partial as it was in a version. */
export function sharedVersionOf({ value, ...record }: StoredRecord<SharedVersionValue>): SharedText {
  const { of: id, author: _, ...rest } = value
  return toShared({ ...record, id, value: rest })
}

function keyOf(organizationId: string | null, role: SharedRole, name: string): string {
  return `${organizationId}\n${role}\n${name}`
}
