import type { Placeholder } from '../../domain/template/compile.ts'
import type { RenderedMessage } from '../render.ts'

/** A template. It is also valid as an update, and then changes nothing. */
export interface TemplateRecord {
  readonly id: string
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  /** Null if `html` or `text` is given. */
  readonly body: string | null
  readonly html: string | null
  /** The text alternative of `html`. */
  readonly text: string | null
  /** The name of the layout around its text. Null: none. */
  readonly layout: string | null
  /** The locale of its own text. Null: the default. */
  readonly locale: string | null
  /** Its text in other locales. */
  readonly locales: Readonly<Record<string, VariantRecord>>
  readonly description: string | null
  /** Metadata of its messages. Null: none. */
  readonly metadata: Readonly<Record<string, string>> | null
  /** Id of the category of messages that name none. Null: `default`. */
  readonly category: string | null
  readonly version: number
  readonly createdAt: string
  /** When the current version was made: ISO 8601 UTC. */
  readonly updatedAt: string
}

/** The text of a template in a locale. */
export interface VariantRecord extends Pick<TemplateRecord, 'subject' | 'body' | 'html' | 'text'> {}

/** A version of a template. Name and description are not versioned. */
export interface TemplateVersionRecord
  extends Pick<
    TemplateRecord,
    | 'id'
    | 'version'
    | 'channel'
    | 'subject'
    | 'body'
    | 'html'
    | 'text'
    | 'layout'
    | 'locale'
    | 'locales'
    | 'metadata'
  > {
  /** Creation of the version: ISO 8601 UTC. */
  readonly createdAt: string
}

/** A template rendered with example values as a send would. */
export interface TemplatePreview extends RenderedMessage {
  /** The variables of the template, at most 200, without those inside sections. */
  readonly placeholders: readonly Placeholder[]
}
