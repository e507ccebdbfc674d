import type { AuditActor } from '../audit/audit.ts'
import type { TemplateReference } from '../notification/notification.ts'
import type { RecordInsert, RecordRef, StoredRecord } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { Template, TemplateVariant } from './template.ts'
import type { Text } from './text-kind.ts'
import type { TextShape } from './text-store.ts'

/** A variant with its texts in another form. */
interface VariantOf<Form> extends Omit<TemplateVariant, 'subject' | 'body' | 'text'> {
  readonly subject: Form | null
  readonly body: Form
  readonly text: Form | null
}

/** The texts of a template in some form. */
interface TextsOf<Form> extends Pick<VariantOf<Form>, 'subject' | 'body' | 'text'> {
  readonly locales?: Readonly<Record<string, VariantOf<Form>>> | undefined
}

interface TemplateValueOf<Form>
  extends Omit<
      Template,
      'id' | 'organizationId' | 'createdAt' | 'updatedAt' | 'made' | keyof TextsOf<string>
    >,
    TextsOf<Form> {
  /** Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** The value of a template: its newest version. */
export interface TemplateValue extends TemplateValueOf<string> {}

/** It as it is stored. */
export interface StoredTemplate extends TemplateValueOf<Text> {}

/** Its key is the name within the organization. */
export const templateKind: RecordKind<StoredTemplate> = {
  name: 'templates',
  version: 1,
  notPersonal: 'text for all',
  key: ({ name }, organizationId) => keyOf(organizationId, name),
}

/** A version as it was made, without a description. It outlives changes and the deletion of its template. */
interface VersionValueOf<Form> extends TemplateValueOf<Form> {
  /** Id of the template. */
  readonly template: string
  /** Who made it. Absent: made before authors were kept. */
  readonly author?: AuditActor | undefined
}

export interface VersionValue extends VersionValueOf<string> {}

export const versionKind: RecordKind<VersionValueOf<Text>> = {
  name: 'template_versions',
  version: 1,
  notPersonal: 'text for all, which names its author on purpose',
  list: ({ template }) => template,
}

export const templateShape: TextShape<TemplateValue, StoredTemplate> = {
  kind: templateKind,
  ownerOf: ({ id }) => id,
  textsOf,
  whole: withTexts,
  stored: withTexts,
}

export const versionShape: TextShape<VersionValue, VersionValueOf<Text>> = {
  kind: versionKind,
  ownerOf: ({ value }) => value.template,
  textsOf,
  whole: withTexts,
  stored: withTexts,
}

/** All texts of a value. */
export function textsOf<Form>({ locales = {}, ...own }: TextsOf<Form>): (Form | null)[] {
  return [own, ...Object.values(locales)].flatMap(({ subject, body, text }) => [subject, body, text])
}

/** The value with its texts in another form. */
export function withTexts<From, To, Value extends TextsOf<From>>(
  value: Value & TextsOf<From>,
  form: (text: From) => To,
): Omit<Value, keyof TextsOf<From>> & TextsOf<To> {
  const formed = ({ subject, body, text }: TextsOf<From>): TextsOf<To> => ({
    subject: subject === null ? null : form(subject),
    body: form(body),
    text: text === null ? null : form(text),
  })
  const variants = Object.entries(value.locales ?? {}).map(([locale, variant]) => [
    locale,
    { ...variant, ...formed(variant) },
  ])
  const locales = variants.length === 0 ? {} : { locales: Object.fromEntries(variants) }
  const all: object = { ...value, ...formed(value), ...locales }
  return all as Omit<Value, keyof TextsOf<From>> & TextsOf<To>
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
  value: StoredTemplate,
  author: AuditActor,
): RecordInsert<VersionValueOf<Text>> {
  return {
    kind: versionKind,
    do: 'insert',
    id: versionId({ id, version: value.version }),
    organizationId,
    value: { ...value, description: null, template: id, author },
  }
}

export function toTemplate({ id, organizationId, createdAt, value }: StoredRecord<TemplateValue>): Template {
  const updatedAt = value.updatedAt ?? createdAt
  return { ...value, id, organizationId: organizationId ?? '', createdAt, updatedAt }
}

/** The template as it was in a version. */
export function versionOf({ value, ...record }: StoredRecord<VersionValue>): Template {
  const { template: id, author: _, ...rest } = value
  return toTemplate({ ...record, id, value: rest })
}

function keyOf(organizationId: string | null, name: string): string {
  return `${organizationId}\n${name}`
}
