/** `layout`: surrounds the text of a template. `partial`: is inserted where a text names it. */
export type SharedRole = 'layout' | 'partial'

/** Lower-case words joined by hyphens: names of templates, layouts and partials. */
export const SHARED_NAME: RegExp = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Maximum number of partials that a text is made of. */
export const MAX_PARTIALS = 50

/** The name of a layout's slot. */
export const SLOT = 'content'

/** The sources of a layout or partial. Null: none for such texts. */
export interface SharedSource {
  /** For HTML. */
  readonly html: string | null
  /** For plain text, and for channels without HTML. */
  readonly text: string | null
}

/** The layout and the partials that a text is made of. */
export interface SharedSources {
  /** Null: none. */
  readonly layout: SharedSource | null
  /** By name. */
  readonly partials: ReadonlyMap<string, SharedSource>
}

/** A layout or a partial. */
export interface SharedText extends SharedSource {
  /** `lay_<value>` or `part_<value>` */
  readonly id: string
  /** Null: the application's. */
  readonly organizationId: string | null
  readonly role: SharedRole
  /** Unique among the layouts, or partials, of the organization. Never changes. */
  readonly name: string
  /** The partials that its sources name. */
  readonly uses: readonly string[]
  /** True: its sources have messages, or name their language. */
  readonly localized: boolean
  readonly description: string | null
  /** From 1; every change of a source makes a new one. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** When this version was made; epoch milliseconds. */
  readonly updatedAt: number
}

/** A text and what it names. */
export interface PinnedText extends SharedSource {
  /** The id of its version's record. */
  readonly pin: string
  readonly name: string
  readonly uses: readonly string[]
  readonly localized: boolean
}
