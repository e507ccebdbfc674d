import type { List, ListQuery } from '../../core/records/list.ts'
import type { CatalogueInput } from './input.ts'
import type { CatalogueRecord, CatalogueSummary, MissingTranslations } from './model.ts'

/** The catalogues of an organization: messages by locale. Those in the options of the notifier are not included. */
export interface Catalogues {
  /**
   * Stores all messages of a locale, in ICU MessageFormat. Queued notifications keep the earlier ones.
   *
   * @param options `version`: the one that the change is based on, 0 for a new catalogue
   * @throws NotifierError `invalid_parameter`, `version_conflict` if `version` is not the current one
   *
   * @example
   * await notifier.messages.put('de', { 'welcome.title': 'Willkommen, {name}' })
   */
  put(
    locale: string,
    messages: CatalogueInput,
    options?: { readonly version?: number | undefined },
  ): Promise<CatalogueRecord>
  /**
   * The messages of a locale.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { messages, version } = await notifier.messages.get('de')
   */
  get(locale: string): Promise<CatalogueRecord>
  /**
   * All catalogues, by locale.
   *
   * @example
   * const { items } = await notifier.messages.list()
   */
  list(): Promise<{ readonly items: readonly CatalogueSummary[] }>
  /**
   * Deletes the messages of a locale. Queued notifications keep theirs.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * await notifier.messages.delete('de')
   */
  delete(locale: string): Promise<void>
}

export interface TranslationReports {
  /**
   * What templates lack in the locales of the organization, newest first: messages and variants. The locales are those
   * of all catalogues and of the template. A page may be short, or empty, although more follow.
   *
   * @example
   * const { items } = await notifier.templates.missing()
   * for (const { name, missing } of items) console.log(name, missing)
   */
  missing(query?: ListQuery): Promise<List<MissingTranslations>>
}
