import { isRead, localesFor } from '../../domain/locale.ts'
import type { Template } from '../../domain/template/template.ts'
import { usesIn } from '../../domain/template/uses.ts'
import type { PageRequest } from '../../ports/storage/page.ts'
import { cataloguesKind } from '../languages/kind.ts'
import type { MissingInLocale, MissingTranslations } from '../languages/records.ts'
import { listInPortions, listReader } from '../list.ts'
import type { RecordStore } from '../records/record-stores.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import { type StoredTemplate, templateShape, toTemplate } from './kind.ts'
import type { AuthoringParts } from './parts.ts'

const readList = listReader('missing-translations', {})

/** Maximum number of keys and of locales in the answer about one template. */
const MOST = 100

/** Finds what one template lacks. */
export interface MissingFinder {
  /** The locales of all catalogues of an organization. */
  knownLocales(organizationId: string): Promise<readonly string[]>
  /** Null: nothing. @throws NotifierError `invalid_template` */
  missingOf(template: Template, known: readonly string[]): Promise<MissingTranslations | null>
}

/** Finds what templates lack in the locales of an organization. */
export function createMissing(
  { records, organizations, library, texts, lookUps, languages }: AuthoringParts,
  store: RecordStore<StoredTemplate>,
): Pick<Scoped<Tenant['templates']>, 'missing'> & MissingFinder {
  /** The keys that a locale has in none of its catalogues. */
  async function lacking(organizationId: string, locale: string, keys: readonly string[]): Promise<string[]> {
    if (keys.length === 0) return []
    const catalogues = await lookUps(organizationId, locale, records)
    return keys.filter((key) => !catalogues.some(({ messages }) => Object.hasOwn(messages, key)))
  }

  async function inLocale(
    template: Template,
    keys: readonly string[],
    locale: string,
  ): Promise<MissingInLocale> {
    const { organizationId, locales, locale: own } = template
    const variants = Object.keys(locales ?? {})
    const isOwn = isRead(own ?? languages.locale, locale)
    const variant = variants.length > 0 && !isOwn && localesFor(locale, variants, () => null).length === 0
    return { locale, variant, keys: (await lacking(organizationId, locale, keys)).slice(0, MOST) }
  }

  async function missingOf(
    template: Template,
    known: readonly string[],
  ): Promise<MissingTranslations | null> {
    const keys = await keysOf(template)
    const variants = Object.keys(template.locales ?? {})
    const wanted = [...new Set([...known, ...variants])].slice(0, MOST)
    const found = await Promise.all(wanted.map((locale) => inLocale(template, keys, locale)))
    const missing = found.filter((each) => each.variant || each.keys.length > 0)
    return missing.length === 0 ? null : { id: template.id, name: template.name, missing }
  }

  /** The keys of a template with its layout and partials. */
  async function keysOf(template: Template): Promise<readonly string[]> {
    const own = [template, ...Object.values(template.locales ?? {})].flatMap((text) => [
      text.subject,
      text.body,
      text.text,
    ])
    if (template.layout == null && template.uses === undefined) return usesIn(own).keys
    const { sources } = await library.find(template, records)
    const shared = [sources.layout, ...sources.partials.values()].flatMap((text) => [text?.html, text?.text])
    return usesIn([...own, ...shared]).keys
  }

  async function knownLocales(organizationId: string): Promise<readonly string[]> {
    const [own] = await records.get(cataloguesKind, [{ id: organizationId }])
    return [...Object.keys(own?.value.locales ?? {}), ...languages.catalogues.keys()]
  }

  return {
    knownLocales,
    missingOf,
    async missing(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      const known = await knownLocales(organizationId)
      const read = async (request: PageRequest) => {
        const { items, nextCursor } = await store.list({ organizationId }, request)
        const whole = await texts.read(templateShape, items)
        const found = await Promise.all(whole.map((record) => record && missingOf(toTemplate(record), known)))
        return { items: found, nextCursor }
      }
      const list = await listInPortions('missing-translations', read, page, {
        rows: 2,
        view: (found) => found,
      })
      return { ...list, items: list.items.filter((each) => each !== null) }
    },
  }
}
