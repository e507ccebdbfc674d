import type { RecordKind } from '../../domain/record-kind.ts'
import type { TemplateValue } from './kind.ts'

/** What a draft has of a template. */
export type DraftText = Pick<
  TemplateValue,
  'subject' | 'body' | 'format' | 'text' | 'layout' | 'locale' | 'locales' | 'metadata'
>

/** Changes of a template that are not sent yet. Its id is that of the template. */
export interface DraftValue extends DraftText {
  /** The version that it began with. */
  readonly basedOn: number
  /** From 1; rises with every change. */
  readonly edit: number
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

export const draftKind: RecordKind<DraftValue> = { name: 'template_drafts', version: 1 }

/** The fields of a draft, and no others. */
export function draftTextOf(value: DraftText): DraftText {
  const { subject, body, format, text, layout, locale, locales, metadata } = value
  return { subject, body, format, text, layout, locale, locales, metadata }
}
