import type { BodyFormat, PinnedTexts } from '../notification.ts'
import type { SharedSources } from './shared-text.ts'

/** Reusable text with `{{variable}}` placeholders. */
export interface Template {
  /** `tpl_<value>` */
  readonly id: string
  readonly organizationId: string
  /** Lower-case words joined by hyphens; unique in the organization. */
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  readonly body: string
  /** Null: detected from the body. */
  readonly format: BodyFormat | null
  /** The text alternative of an HTML body. Null: made from the body. */
  readonly text: string | null
  /** The name of the layout around its text. Null or absent: none. */
  readonly layout?: string | null | undefined
  /** The names of its partials. Absent: none. */
  readonly uses?: readonly string[] | undefined
  /** Its layout and partials, once they have been found. Absent: it has none. */
  readonly made?: Made | undefined
  readonly description: string | null
  /** Metadata of its messages. Absent, null: none. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  /** From 1; every change of subject, body, format, text, layout or metadata makes a new one. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** When this version was made; epoch milliseconds. */
  readonly updatedAt: number
}

/** The versions that a template is made of. */
export interface Made {
  readonly pinned: PinnedTexts
  readonly sources: SharedSources
}
