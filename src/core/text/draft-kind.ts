import type { RecordKind } from '../records/record-kind.ts'
import { type StoredTemplate, type TemplateValue, textsOf, withTexts } from './kind.ts'
import { type Text, textFor } from './text-kind.ts'
import type { TextShape } from './text-store.ts'

/** The fields of a template that a draft has. */
type DraftField = 'subject' | 'body' | 'format' | 'text' | 'layout' | 'locale' | 'locales' | 'metadata'

/** What a draft has of a template. */
export type DraftText = Pick<TemplateValue, DraftField>

interface Edit {
  /** The version that it began with. */
  readonly basedOn: number
  /** From 1; rises with every change. */
  readonly edit: number
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

/** Changes of a template that are not sent yet. Its id is that of the template. */
export interface DraftValue extends DraftText, Edit {}

/** A draft as it is stored. Texts that no version has yet stay in it, and go with it. */
export interface StoredDraft extends Pick<StoredTemplate, DraftField>, Edit {}

export const draftKind: RecordKind<StoredDraft> = {
  name: 'template_drafts',
  version: 1,
  notPersonal: 'text for all',
}

export const draftShape: TextShape<DraftValue, StoredDraft> = {
  kind: draftKind,
  ownerOf: ({ id }) => id,
  textsOf,
  whole: withTexts,
  stored: withTexts,
}

/** @param template the version whose texts the draft need not repeat */
export function storedDraft(draft: DraftValue, template: StoredTemplate): StoredDraft {
  const known = new Set(['', ...textsOf(template).map(hashOf)])
  return withTexts(draft, (text): Text => {
    const named = textFor(text)
    return known.has(hashOf(named)) ? named : text
  })
}

function hashOf(text: Text | null): string {
  return text === null || typeof text === 'string' ? '' : text.sha256
}

/** The fields of a draft, and no others. */
export function draftTextOf<Value extends Pick<StoredTemplate, DraftField>>(
  value: Value,
): Pick<Value, DraftField> {
  const { subject, body, format, text, layout, locale, locales, metadata } = value
  return { subject, body, format, text, layout, locale, locales, metadata }
}
