import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { Bounds } from '../../core/input/bounds.ts'
import { canonicalLocale, isTimeZone } from '../../core/input/locale.ts'
import { assertObject, wrong } from '../../core/input/option-checks.ts'
import { parseInput } from '../../core/input/parse.ts'
import type { KeepingInsert } from '../../core/ports/storage/records.ts'
import { assertCatalogueBounds, type CatalogueInput, catalogueMessages } from './input.ts'
import { type CatalogueValue, insertCatalogue } from './records.ts'

/** The languages of the application. */
export interface ApplicationLanguages {
  /** The default locale. */
  readonly locale: string
  /** The default time zone. */
  readonly timeZone: string
  /** The ids of its catalogues by locale. */
  readonly catalogues: ReadonlyMap<string, string>
  /** Stores all catalogues, so that messages accepted with them stay the same after another deployment. */
  readonly versions: readonly KeepingInsert<CatalogueValue>[]
}

/** @throws NotifierError `invalid_configuration` */
export function resolveApplicationLanguages(
  given: {
    readonly messages?: Readonly<Record<string, CatalogueInput>> | undefined
    readonly locale?: string | undefined
    readonly timeZone?: string | undefined
  },
  bounds: Bounds,
): ApplicationLanguages {
  const { messages = {}, locale = 'en', timeZone = 'UTC' } = given
  assertObject('messages', messages)
  const entries = Object.entries(messages)
  if (entries.length > bounds.locales)
    throw wrong('messages', `an object of at most ${bounds.locales} locales, as "bounds.locales" says`)
  const versions = entries.map(([name, catalogue]) => versionOf(name, catalogue, bounds))
  const canonical = typeof locale === 'string' ? canonicalLocale(locale) : null
  if (canonical === null) throw wrong('locale', 'the name of a locale, such as en or fr-BE')
  if (typeof timeZone !== 'string' || !isTimeZone(timeZone))
    throw wrong('timeZone', 'an IANA time zone, such as Europe/Vienna')
  return {
    locale: canonical,
    timeZone,
    catalogues: new Map(versions.map(({ id, value }) => [value.locale, id])),
    versions,
  }
}

function versionOf(name: string, catalogue: CatalogueInput, bounds: Bounds): KeepingInsert<CatalogueValue> {
  const option = `messages.${name}`
  const locale = canonicalLocale(name)
  if (locale === null) throw wrong(option, 'named by a locale, such as en or fr-BE')
  assertObject(option, catalogue)
  try {
    const messages = parseInput(catalogueMessages, catalogue, option)
    assertCatalogueBounds(messages, option, bounds)
    return insertCatalogue(null, { locale, messages })
  } catch (error) {
    if (!isNotifierError(error)) throw error
    throw wrong(option, `valid: ${error.message}`)
  }
}
