import { NotifierError } from '../../core/errors/notifier-error.ts'
import { directionOf, isRead, localesFor, writingOf } from '../../core/input/locale.ts'
import type { PinnedTexts } from '../../core/notification/notification.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { createVersionCache } from '../../core/records/version-cache.ts'
import type { OrganizationPlan } from '../../core/tenancy/plan-of.ts'
import type { CatalogueMessage, Language } from '../../core/text/language.ts'
import { type Formatting, loadFormatting } from './message-format.ts'
import type { ApplicationLanguages } from './options.ts'
import { type CatalogueValue, cataloguesKind, catalogueVersionKind } from './records.ts'

/** The reader of a text. */
export interface Reader {
  readonly organizationId: string
  /** The locale of the send or the recipient. Absent: that of the organization. */
  readonly locale?: string | undefined
}

/** The locales of a template: its own, and those of its variants. */
export interface Variants {
  /** The locale of its own text. Null: the default. */
  readonly own: string | null
  readonly locales: readonly string[]
}

/** The language chosen for a text. */
export interface Spoken {
  readonly pinned: Required<Pick<PinnedTexts, 'locale' | 'messages'>> & Pick<PinnedTexts, 'variant'>
  readonly language: Language
}

/** Chooses the languages of texts. */
export interface Languages {
  /** The language in which a reader gets a text, with the newest catalogues. */
  choose(reader: Reader, variants: Variants, reads: RecordReads): Promise<Spoken>
  /** The language of pinned versions. @throws NotifierError `template_error` if one is missing */
  load(pinned: Required<Pick<PinnedTexts, 'locale' | 'messages'>>): Promise<Language>
  /** The locale of texts and readers without one. */
  localeOf(organizationId: string): Promise<string>
  /** The time zone of dates. */
  timeZoneOf(organizationId: string, given: string | undefined): Promise<string>
  /** The catalogues for a locale, in the order of look-ups. */
  lookUps(organizationId: string, locale: string, reads: RecordReads): Promise<readonly CatalogueValue[]>
}

/** The settings of an organization that decide about its languages. */
export type LanguageSettings = Pick<OrganizationPlan, 'locale' | 'timeZone'>

export function createLanguages(
  records: RecordReads,
  application: ApplicationLanguages,
  settingsOf: (organizationId: string) => LanguageSettings | Promise<LanguageSettings>,
): Languages {
  const cache = createVersionCache(records, catalogueVersionKind, sizeOf)

  async function localeOf(organizationId: string): Promise<string> {
    return (await settingsOf(organizationId)).locale ?? application.locale
  }

  /** The ids of catalogues for the locales, those of the organization before those of the application. */
  async function pinsFor(
    { organizationId }: Reader,
    wanted: readonly string[],
    reads: RecordReads,
    { best }: Formatting,
  ): Promise<{ readonly pins: readonly string[]; readonly locales: ReadonlySet<string> }> {
    const [own] = await reads.get(cataloguesKind, [{ id: organizationId }])
    const entries = own?.value.locales ?? {}
    const available = [...new Set([...Object.keys(entries), ...application.catalogues.keys()])]
    const locales = new Set(wanted.flatMap((locale) => localesFor(locale, available, best)))
    const pins = [...locales].flatMap((locale) => [
      ...(Object.hasOwn(entries, locale) ? [entries[locale]?.pin ?? ''] : []),
      ...(application.catalogues.has(locale) ? [application.catalogues.get(locale) ?? ''] : []),
    ])
    return { pins, locales }
  }

  return {
    localeOf,
    async choose(reader, { own, locales }, reads) {
      const formatting = await loadFormatting()
      const fallback = await localeOf(reader.organizationId)
      const wanted = reader.locale ?? fallback
      const [variant] = localesFor(wanted, locales, formatting.best)
      const found = await pinsFor(reader, [wanted, fallback, application.locale], reads, formatting)
      const isSpoken =
        variant !== undefined || [own ?? fallback, ...found.locales].some((each) => isRead(each, wanted))
      const locale = isSpoken ? wanted : (own ?? fallback)
      const pinned = { locale, messages: found.pins, ...(variant === undefined ? {} : { variant }) }
      return { pinned, language: languageOf(locale, await cache.get(found.pins), formatting) }
    },
    async load({ locale, messages }) {
      const formatting = await loadFormatting()
      return languageOf(locale, await cache.get(messages), formatting)
    },
    async timeZoneOf(organizationId, given) {
      return given ?? (await settingsOf(organizationId)).timeZone ?? application.timeZone
    },
    async lookUps(organizationId, locale, reads) {
      const found = await pinsFor({ organizationId }, [locale], reads, await loadFormatting())
      return cache.get(found.pins)
    },
  }
}

function sizeOf({ messages }: CatalogueValue): number {
  return Object.entries(messages).reduce((sum, [key, { length }]) => sum + key.length + length + 50, 0)
}

function languageOf(
  locale: string,
  catalogues: readonly CatalogueValue[],
  { compile }: Formatting,
): Language {
  return {
    locale,
    dir: directionOf(locale),
    locales: [...new Set([locale, ...catalogues.map((catalogue) => catalogue.locale)])],
    message(key) {
      const found = catalogues.find(({ messages }) => Object.hasOwn(messages, key))
      if (found === undefined) return null
      // For a Belgian reader, numbers in a French message have the Belgian format; those in an English one the English
      // format.
      const formatted = writingOf(found.locale) === writingOf(locale) ? locale : found.locale
      return compiled(key, found, formatted, compile)
    },
  }
}

function compiled(
  key: string,
  { messages, locale }: CatalogueValue,
  formatted: string,
  compile: Formatting['compile'],
): CatalogueMessage {
  try {
    return compile(messages[key] ?? '', formatted)
  } catch (cause) {
    throw new NotifierError('template_error', {
      message: `The message "${key}" of the locale ${locale} cannot be read.`,
      cause,
    })
  }
}
