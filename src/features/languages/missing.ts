import { setImmediate as nextTurn } from 'node:timers/promises'
import { isRead, localesFor } from '../../core/input/locale.ts'
import { once } from '../../core/loop/steps.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import { listInPortions, listReader } from '../../core/records/list.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { AuthoringServices } from '../../core/text/authoring-services.ts'
import { templateShape, toTemplate } from '../../core/text/kind.ts'
import type { PinnedText } from '../../core/text/shared-text.ts'
import type { Template } from '../../core/text/template.ts'
import { usesIn } from '../../core/text/uses.ts'
import type { TranslationReports } from './api.ts'
import type { Languages } from './languages.ts'
import type { MissingInLocale, MissingSearch, MissingTranslations } from './model.ts'
import type { ApplicationLanguages } from './options.ts'
import { type CatalogueValue, cataloguesKind } from './records.ts'

const readList = listReader('missing-translations', {})

/** Maximum number of keys of a locale, and of locales, in the answer about one template. */
const MOST = 100
/** Look-ups of keys after which a page ends. */
const MOST_WORK = 50_000
/** Reading this many characters of a text costs as much as looking a key up. */
const CHARACTERS_OF_A_LOOK_UP = 16

export interface MissingServices
  extends Pick<AuthoringServices, 'stores' | 'records' | 'organizations' | 'library' | 'texts' | 'processor'>,
    Pick<Languages, 'lookUps' | 'localeOf'> {
  readonly languages: ApplicationLanguages
}

/** Begins a search of what the templates of an organization lack. */
export type SearchMissing = (organizationId: string) => Promise<MissingSearch>

/** Finds what templates lack in the locales of an organization. */
export function createMissing({
  stores,
  records,
  organizations,
  library,
  texts,
  lookUps,
  localeOf,
  languages,
  processor,
}: MissingServices): PerTenant<TranslationReports> & { readonly searchMissing: SearchMissing } {
  const store = stores.of(templateShape.kind)

  async function searchMissing(organizationId: string): Promise<MissingSearch> {
    const share = processor.share(organizationId)
    const [own] = await records.get(cataloguesKind, [{ id: organizationId }])
    const locales = [...new Set([...Object.keys(own?.value.locales ?? {}), ...languages.catalogues.keys()])]
    /** The locale of templates that name none. */
    const unnamed = await localeOf(organizationId)
    const catalogues = new Map<string, readonly CatalogueValue[]>()
    const keysOfShared = new Map<string, readonly string[]>()
    let work = 0

    async function cataloguesFor(locale: string): Promise<readonly CatalogueValue[]> {
      const known = catalogues.get(locale)
      if (known !== undefined) return known
      const found = await lookUps(organizationId, locale, records)
      catalogues.set(locale, found)
      await nextTurn()
      return found
    }

    function keysIn(
      sources: readonly (string | null | undefined)[],
    ): readonly string[] | Promise<readonly string[]> {
      for (const source of sources) work += Math.ceil((source?.length ?? 0) / CHARACTERS_OF_A_LOOK_UP)
      return share(once(() => usesIn(sources).keys))
    }

    async function keysOfText({ pin, html, text, localized }: PinnedText): Promise<readonly string[]> {
      if (!localized) return []
      const keys = keysOfShared.get(pin) ?? (await keysIn([html, text]))
      keysOfShared.set(pin, keys)
      return keys
    }

    /** The keys of a template with its layout and partials. */
    async function keysOf(template: Template): Promise<readonly string[]> {
      const keys = new Set(await keysIn(ownTexts(template)))
      for (const text of await sharedTexts(template)) for (const key of await keysOfText(text)) keys.add(key)
      return [...keys]
    }

    /** The keys that no catalogue has: at most one more than fits into an answer. */
    function lacking(keys: readonly string[], among: readonly CatalogueValue[]): readonly string[] {
      const missing: string[] = []
      for (const key of keys) {
        work += 1
        if (!among.some(({ messages }) => Object.hasOwn(messages, key))) missing.push(key)
        if (missing.length > MOST) break
      }
      return missing
    }

    async function inLocale(
      { locales: variants = {}, locale: own }: Template,
      keys: readonly string[],
      locale: string,
    ): Promise<MissingInLocale & { readonly all: boolean }> {
      const names = Object.keys(variants)
      const isOwn = isRead(own ?? unnamed, locale)
      const variant = names.length > 0 && !isOwn && localesFor(locale, names, () => null).length === 0
      const among = keys.length === 0 ? [] : await cataloguesFor(locale)
      const missing = await share(once(() => lacking(keys, among)))
      return { locale, variant, keys: missing.slice(0, MOST), all: missing.length <= MOST }
    }

    return {
      locales,
      get work() {
        return work
      },
      async in(template, written = new Set()) {
        const keys = [...new Set([...(await keysOf(template)), ...written])]
        const all = [...new Set([...locales, ...Object.keys(template.locales ?? {})])]
        const missing: MissingInLocale[] = []
        let complete = all.length <= MOST
        for (const each of all.slice(0, MOST)) {
          const { all: isAll, ...found } = await inLocale(template, keys, each)
          complete &&= isAll
          if (found.variant || found.keys.length > 0) missing.push(found)
        }
        const { id, name } = template
        return missing.length === 0 && complete ? null : { id, name, missing, complete }
      },
    }
  }

  /** The layout and partials of a template. */
  async function sharedTexts(template: Template): Promise<readonly PinnedText[]> {
    if (template.layout == null && template.uses === undefined) return []
    const { layout, partials } = (await library.find(template, records)).sources
    return layout === null ? [...partials.values()] : [layout, ...partials.values()]
  }

  return {
    searchMissing,
    async missing(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      const search = await searchMissing(organizationId)
      const read = (request: PageRequest) => store.list({ organizationId }, request)
      const list = await listInPortions('missing-translations', read, page, {
        rows: 1,
        view: async (rows) => {
          const found: (MissingTranslations | null)[] = []
          for (const record of await texts.read(templateShape, rows))
            found.push(await search.in(toTemplate(record)))
          return found
        },
        isEnough: () => search.work >= MOST_WORK,
      })
      return { ...list, items: list.items.filter((each) => each !== null) }
    },
  }
}

function ownTexts(template: Template): readonly (string | null | undefined)[] {
  const texts = [template, ...Object.values(template.locales ?? {})]
  return texts.flatMap(({ subject, body, text }) => [subject, body, text])
}
