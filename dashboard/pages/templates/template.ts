import { type ChannelKind, session } from '../../app/session.ts'

/** The text of a template, as the REST API shows it. */
interface TemplateText {
  readonly channel: string
  readonly subject: string | null
  readonly body: string | null
  readonly html: string | null
  readonly text: string | null
}

export interface Template extends TemplateText {
  readonly id: string
  readonly name: string
  readonly description: string | null
  /** The name of the layout around its text. */
  readonly layout: string | null
  /** The locale of its own text. */
  readonly locale: string | null
  /** Its text in other locales. */
  readonly locales: Readonly<Record<string, object>>
  readonly version: number
  readonly updatedAt: string
}

export interface TemplateVersion extends TemplateText {
  readonly version: number
  readonly createdAt: string
}

export interface TemplateDraft extends TemplateText {
  /** The version that it began with. */
  readonly basedOn: number
  readonly edit: number
  readonly updatedAt: string
}

/** What the editor holds. Empty is the same as absent. */
export interface Draft extends Sides {
  readonly name: string
  readonly channel: string
  readonly description: string
}

/** What a version consists of. */
export interface Sides {
  readonly subject: string
  readonly html: string
  readonly text: string
}

export const SIDES = ['subject', 'html', 'text'] as const
const CHANGEABLE = ['name', 'description', ...SIDES] as const

/** Of a channel that is no longer known, messages are plain text. */
export function kindOf(channel: string): ChannelKind {
  const known = session.value.kinds.find(({ name }) => name === channel)
  return known ?? { name: channel, subject: false, html: false, configured: false }
}

export function emptyDraft(channel: string): Draft {
  return { name: '', channel, description: '', subject: '', html: '', text: '' }
}

export function draftOf(template: Template): Draft {
  const { name, channel, description } = template
  return { name, channel, description: description ?? '', ...sidesOf(template) }
}

const LOOKS_LIKE_HTML = /<!doctype html|<html[\s>]|<\/[a-z][a-z0-9]*\s*>/i

/** A `body` is the side that the server takes it for. */
export function sidesOf({ channel, subject, body, html, text }: TemplateText): Sides {
  const sides = { subject: subject ?? '', html: html ?? '', text: text ?? '' }
  if (body === null) return sides
  return { ...sides, [kindOf(channel).html && LOOKS_LIKE_HTML.test(body) ? 'html' : 'text']: body }
}

/** The fields of a request, of those that differ; empty ones are null. */
export function changesOf(draft: Draft, before: Draft): Record<string, string | null> {
  const changed = CHANGEABLE.filter((field) => draft[field] !== before[field])
  return Object.fromEntries(changed.map((field) => [field, draft[field] === '' ? null : draft[field]]))
}

export function isChanged(draft: Draft, before: Draft): boolean {
  return draft.channel !== before.channel || CHANGEABLE.some((field) => draft[field] !== before[field])
}

/** Brings what was changed in a draft onto another template than the one that it was made of. */
export function broughtOnto(theirs: Draft, mine: Draft, before: Draft): Draft {
  const own = CHANGEABLE.filter((field) => mine[field] !== before[field])
  return { ...theirs, ...Object.fromEntries(own.map((field) => [field, mine[field]])) }
}

/** The fields that give a draft its text, for a channel that may have no subject or HTML. */
export function textFields(draft: Draft): Record<string, string> {
  const { subject, html } = kindOf(draft.channel)
  const given = SIDES.filter(
    (side) => draft[side] !== '' && (side === 'text' || (side === 'subject' ? subject : html)),
  )
  return Object.fromEntries(given.map((side) => [side, draft[side]]))
}
