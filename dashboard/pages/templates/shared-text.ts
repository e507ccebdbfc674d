import type { Author, Draft } from './template.ts'

export type SharedTexts = 'layouts' | 'partials'

/** A layout or partial, as the REST API shows it. */
export interface SharedText {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly html: string | null
  readonly text: string | null
  readonly version: number
  readonly updatedAt: string
}

export interface SharedTextVersion extends Pick<SharedText, 'html' | 'text' | 'version'> {
  readonly author: Author | null
  readonly createdAt: string
}

/** What its editor holds. Empty is the same as absent. */
export type SharedFields = Pick<Draft, 'name' | 'description' | 'html' | 'text'>

export const NO_TEXT: SharedFields = { name: '', description: '', html: '', text: '' }

export function sharedFieldsOf({ name, description, html, text }: SharedText): SharedFields {
  return { name, description: description ?? '', html: html ?? '', text: text ?? '' }
}
