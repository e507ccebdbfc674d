import type { AuditActor } from '../audit/audit.ts'
import type { Placeholder } from './compile.ts'
import type { DiffHunk } from './diff-lines.ts'
import type { RenderedMessage } from './render.ts'

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

/** A template in a list. */
export interface ListedTemplate extends TemplateRecord {
  /** True: it has changes that are not published. */
  readonly hasDraft: boolean
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
  /** Who made it. Null: it is from before authors were kept. */
  readonly author: AuditActor | null
  /** Creation of the version: ISO 8601 UTC. */
  readonly createdAt: string
}

/** Changes of a template that are not sent before they are published. */
export interface TemplateDraftRecord
  extends Pick<TemplateRecord, 'name'>,
    Omit<TemplateVersionRecord, 'version' | 'author' | 'createdAt'> {
  /** The version that it began with. */
  readonly basedOn: number
  /** From 1; rises with every change of the draft. */
  readonly edit: number
  /** When this edit was made: ISO 8601 UTC. */
  readonly updatedAt: string
}

/** The differences of two versions of a template. */
export interface TemplateComparison {
  readonly id: string
  readonly from: number
  readonly to: number
  /** The fields that differ, such as `html` or `locales.de.subject`, with the lines that do. */
  readonly fields: readonly { readonly field: string; readonly hunks: readonly DiffHunk[] }[]
  /** False: the differences have more than 2,000 lines or 128 Ki characters, and the rest is left out. */
  readonly complete: boolean
}

/** A template rendered with example values as a send would. */
export interface TemplatePreview extends RenderedMessage {
  /** The variables of the template, at most 200, without those inside sections. */
  readonly placeholders: readonly Placeholder[]
}
