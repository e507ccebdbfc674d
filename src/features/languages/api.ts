import type { List, ListQuery } from '../../core/records/list.ts'
import type { CatalogueInput } from './input.ts'
import type { CatalogueRecord, CatalogueSummary, MissingTranslations } from './model.ts'

/** The catalogues of an organization: messages by locale. Those in the options of the notifier are not among them. */
export interface Catalogues {
  /**
   * Stores all messages of a locale, in ICU MessageFormat. Queued notifications keep the earlier ones.
   *
   * @param options `version`: the one that the change is based on, 0 for a new catalogue
   * @throws NotifierError `invalid_parameter`, `version_conflict` if `version` is not the current one
   */
  put(
    locale: string,
    messages: CatalogueInput,
    options?: { readonly version?: number | undefined },
  ): Promise<CatalogueRecord>
  /** @throws NotifierError `not_found` */
  get(locale: string): Promise<CatalogueRecord>
  /** All catalogues, by locale. */
  list(): Promise<{ readonly items: readonly CatalogueSummary[] }>
  /** Queued notifications keep their messages. @throws NotifierError `not_found` */
  delete(locale: string): Promise<void>
}

export interface TranslationReports {
  /**
   * What templates lack in the locales of the organization, newest first: messages and variants. The locales are those
   * of all catalogues and of the template. A page may be short, or empty, although more follow.
   */
  missing(query?: ListQuery): Promise<List<MissingTranslations>>
}
