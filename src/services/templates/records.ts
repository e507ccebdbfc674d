import type { Placeholder } from '../../domain/template/compile.ts'
import type { RenderedMessage } from '../render.ts'

/** A template, as it is answered; given back as an update, it means the same. */
export interface TemplateRecord {
  readonly id: string
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  /** Null where `html` or `text` say what they are. */
  readonly body: string | null
  readonly html: string | null
  /** Beside `html` its text alternative. */
  readonly text: string | null
  readonly description: string | null
  readonly version: number
  readonly createdAt: string
}

/** One version of a template. Name and description belong to no version. */
export interface TemplateVersionRecord
  extends Pick<TemplateRecord, 'id' | 'version' | 'channel' | 'subject' | 'body' | 'html' | 'text'> {
  /** When the version was made: ISO 8601 UTC. */
  readonly createdAt: string
}

/** A template as a send with the example values would render it. */
export interface TemplatePreview extends RenderedMessage {
  /** The names that the template looks up, at most 200; names inside of sections are not among them. */
  readonly placeholders: readonly Placeholder[]
}
