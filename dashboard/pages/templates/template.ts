import { type ChannelKind, session } from '../../app/session.ts'

/** A text in one locale, as the REST API shows it. */
interface Text {
  readonly subject: string | null
  readonly body: string | null
  readonly html: string | null
  readonly text: string | null
}

/** The text of a template, as the REST API shows it. */
interface TemplateText extends Text {
  readonly channel: string
  /** The name of the layout around its text. */
  readonly layout: string | null
  /** The locale of its own text. */
  readonly locale: string | null
  /** Its text in other locales. */
  readonly locales: Readonly<Record<string, Text>>
}

export interface Template extends TemplateText {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly category: string | null
  readonly version: number
  readonly updatedAt: string
  /** Its text is that of its draft. Absent: that of its newest version. */
  readonly draft?: Pick<TemplateDraft, 'basedOn' | 'edit'>
}

export interface TemplateVersion extends TemplateText {
  readonly version: number
  readonly author: Author | null
  readonly createdAt: string
}

/** Who made a version. */
export interface Author {
  readonly type: 'key' | 'operator' | 'session' | 'code'
  readonly id: string
  readonly name: string | null
}

export interface TemplateDraft extends TemplateText {
  /** The version that it began with. */
  readonly basedOn: number
  /** Rises with every change. */
  readonly edit: number
  readonly updatedAt: string
}

/** A template with the text of its draft. */
export function withDraft(template: Template, { basedOn, edit, ...draft }: TemplateDraft): Template {
  return { ...template, ...draft, draft: { basedOn, edit } }
}

/** Rises with every change of what is edited. */
export function revisionOf({ draft, version }: Template): number {
  return draft?.edit ?? version
}

export const SIDES = ['subject', 'html', 'text'] as const
export type Side = (typeof SIDES)[number]
const VERSIONED = ['layout', 'locale', ...SIDES] as const
export const FIELDS = ['name', 'channel', 'description', 'category', ...VERSIONED] as const

/** A text in another locale than that of the template, such as `locales.de.html`. */
type VariantField = `locales.${string}.${Side}`

/** What a version consists of. Empty is the same as absent. */
export type Fields = Readonly<Record<(typeof VERSIONED)[number], string>> & VariantFields
/** What the editor holds. */
export type Draft = Readonly<Record<(typeof FIELDS)[number], string>> & VariantFields

type VariantFields = { readonly [field: VariantField]: string | undefined }

/** @param locale null: that of the template */
export function fieldOf(locale: string | null, side: Side): Side | VariantField {
  return locale === null ? side : `locales.${locale}.${side}`
}

/** Of a channel that is no longer known, messages are plain text. */
export function kindOf(channel: string): ChannelKind {
  const known = session.value.kinds.find(({ name }) => name === channel)
  return known ?? { name: channel, subject: false, html: false, configured: false }
}

export function emptyDraft(channel: string): Draft {
  const empty = Object.fromEntries(FIELDS.map((field) => [field, ''])) as Record<
    (typeof FIELDS)[number],
    string
  >
  return { ...empty, channel }
}

export function draftOf(template: Template): Draft {
  const { name, channel, description, category } = template
  return { name, channel, description: description ?? '', category: category ?? '', ...fieldsOf(template) }
}

/** The fields of a version. */
export function fieldsOf(version: TemplateText): Fields {
  const { channel, layout, locale, locales } = version
  const variants = Object.entries(locales).flatMap(([name, text]) => {
    const sides = sidesOf(channel, text)
    return SIDES.map((side): [VariantField, string] => [`locales.${name}.${side}`, sides[side]])
  })
  return {
    layout: layout ?? '',
    locale: locale ?? '',
    ...sidesOf(channel, version),
    ...Object.fromEntries(variants),
  }
}

const LOOKS_LIKE_HTML = /<!doctype html|<html[\s>]|<\/[a-z][a-z0-9]*\s*>/i

/** A `body` is the side that the server takes it for. */
function sidesOf(channel: string, { subject, body, html, text }: Text): Readonly<Record<Side, string>> {
  const sides = { subject: subject ?? '', html: html ?? '', text: text ?? '' }
  if (body === null) return sides
  return { ...sides, [kindOf(channel).html && LOOKS_LIKE_HTML.test(body) ? 'html' : 'text']: body }
}

/** The other locales that a draft has. */
export function localesOf(draft: VariantFields): string[] {
  const names = Object.entries(draft).flatMap(([field, value]) =>
    field.startsWith('locales.') && value !== undefined ? [field.slice(8, field.lastIndexOf('.'))] : [],
  )
  return [...new Set(names)].sort()
}

/** A text in another locale; null: none. */
function variantOf(draft: Draft, locale: string): object | null {
  const { subject, html } = kindOf(draft.channel)
  const given = SIDES.filter((side) => side === 'text' || (side === 'subject' ? subject : html)).flatMap(
    (side) => {
      const value = draft[`locales.${locale}.${side}`] ?? ''
      return value === '' ? [] : [[side, value]]
    },
  )
  return given.some(([side]) => side !== 'subject') ? Object.fromEntries(given) : null
}

/** The fields in which two differ, in the order of the editor. */
export function differing(one: Partial<Draft>, other: Partial<Draft>): (keyof Draft)[] {
  const variants = [...new Set([...localesOf(one), ...localesOf(other)])].flatMap((locale) =>
    SIDES.map((side): VariantField => `locales.${locale}.${side}`),
  )
  return [...FIELDS, ...variants].filter((field) => (one[field] ?? '') !== (other[field] ?? ''))
}

/** The fields of a request, of those that differ; empty ones are null. */
export function changesOf(draft: Draft, before: Draft): Record<string, unknown> {
  const changed = differing(draft, before).filter((field) => field !== 'channel')
  const own = changed.filter((field) => !field.startsWith('locales.'))
  const locales = localesOf(
    Object.fromEntries(changed.filter((field) => field.startsWith('locales.')).map((field) => [field, ''])),
  )
  return {
    ...Object.fromEntries(own.map((field) => [field, draft[field] || null])),
    ...(locales.length === 0
      ? {}
      : { locales: Object.fromEntries(locales.map((locale) => [locale, variantOf(draft, locale)])) }),
  }
}

/** Whether all that differs can be kept in a draft. */
export function fitsDraft(draft: Draft, before: Draft): boolean {
  const settings: readonly string[] = ['name', 'channel', 'description', 'category']
  return !differing(draft, before).some((field) => settings.includes(field))
}

/** Brings what was changed in a draft onto another template than the one that it was made of. */
export function broughtOnto(theirs: Draft, mine: Draft, before: Draft): Draft {
  return { ...theirs, ...Object.fromEntries(differing(mine, before).map((field) => [field, mine[field]])) }
}

/** The fields that give a draft its text, for a channel that may have no subject or HTML. */
export function textFields(draft: Draft): Record<string, unknown> {
  const { subject, html } = kindOf(draft.channel)
  const given = VERSIONED.filter(
    (field) => draft[field] !== '' && (field === 'subject' ? subject : field !== 'html' || html),
  )
  const variants = localesOf(draft).flatMap((locale) => {
    const variant = variantOf(draft, locale)
    return variant === null ? [] : [[locale, variant]]
  })
  return {
    ...Object.fromEntries(given.map((field) => [field, draft[field]])),
    ...(variants.length === 0 ? {} : { locales: Object.fromEntries(variants) }),
  }
}
