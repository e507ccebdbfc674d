import type { Template } from '../../core/text/template.ts'

/** A catalogue in a list. */
export interface CatalogueSummary {
  readonly locale: string
  readonly version: number
  /** Number of messages. */
  readonly count: number
  /** ISO 8601 UTC. */
  readonly updatedAt: string
}

/** A catalogue with its messages. */
export interface CatalogueRecord extends CatalogueSummary {
  /** By key, in ICU MessageFormat. */
  readonly messages: Readonly<Record<string, string>>
}

/** What a template lacks in a locale. */
export interface MissingInLocale {
  readonly locale: string
  /** True: the template has variants, but none for this locale. */
  readonly variant: boolean
  /** Keys of messages that the locale has in no catalogue; at most 100. The text then has those of the default locale. */
  readonly keys: readonly string[]
}

/** A template that lacks something in some locales. */
export interface MissingTranslations {
  readonly id: string
  readonly name: string
  readonly missing: readonly MissingInLocale[]
  /** False: more keys are missing in a locale, or there are more locales, than fit into the answer. */
  readonly complete: boolean
}

/** Searches the templates of an organization. Reads each catalogue once, and scans each layout and partial once. */
export interface MissingSearch {
  /** The locales of all catalogues. */
  readonly locales: readonly string[]
  /**
   * What a template lacks. Null: nothing.
   *
   * @param keys of messages that its functions take
   * @throws NotifierError `invalid_template`
   */
  in(template: Template, keys?: ReadonlySet<string>): Promise<MissingTranslations | null>
  /** The look-ups so far. */
  readonly work: number
}
