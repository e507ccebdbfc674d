import type { CatalogueInput } from '../../domain/input/catalogue.ts'
import { type ApplicationLanguages, resolveApplicationLanguages } from '../languages/application.ts'
import {
  type ApplicationTexts,
  resolveApplicationTexts,
  type SharedTextsOption,
} from '../shared-texts/application.ts'

/** The application's own texts for templates. */
export interface AuthoringOptions {
  /**
   * Layouts by name: `{ brand: { html: '<main>{{{content}}}</main>', text: '{{content}}' } }`. An organization's own layout
   * of the same name goes first. Default: none.
   */
  readonly layouts?: SharedTextsOption | undefined
  /** Partials by name: `{ footer: { html: '<footer>Acme</footer>', text: 'Acme' } }`. Default: none. */
  readonly partials?: SharedTextsOption | undefined
  /**
   * Messages for templates by locale and key, in ICU MessageFormat: `{ de: { 'welcome.title': 'Willkommen, {name}' } }`. An
   * organization's own message goes first. Default: none.
   */
  readonly messages?: Readonly<Record<string, CatalogueInput>> | undefined
  /** The locale of texts for organizations and messages without one, as BCP 47. Default `en`. */
  readonly locale?: string | undefined
  /** The IANA time zone of dates in messages, where neither the send nor the organization has one. Default `UTC`. */
  readonly timeZone?: string | undefined
}

export const AUTHORING_OPTIONS: readonly (keyof AuthoringOptions)[] = [
  'layouts',
  'partials',
  'messages',
  'locale',
  'timeZone',
]

/** The options with all defaults. */
export interface ResolvedAuthoring {
  readonly application: ApplicationTexts
  readonly languages: ApplicationLanguages
}

/** @throws NotifierError `invalid_configuration` */
export function resolveAuthoring({ layouts, partials, ...given }: AuthoringOptions): ResolvedAuthoring {
  return {
    application: resolveApplicationTexts({ layouts, partials }),
    languages: resolveApplicationLanguages(given),
  }
}
