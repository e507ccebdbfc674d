import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import type { Kinds } from './core/channels/kinds.ts'
import type { Bounds } from './core/input/bounds.ts'
import type { DefinedTemplates } from './features/code-templates/define.ts'
import { type CodeDefinition, resolveCodeTemplates } from './features/code-templates/options.ts'
import type { CatalogueInput } from './features/languages/input.ts'
import { type ApplicationLanguages, resolveApplicationLanguages } from './features/languages/options.ts'
import {
  type ApplicationTexts,
  resolveApplicationTexts,
  type SharedTextsOption,
} from './features/layouts/options.ts'

/** The application's own texts for templates. */
export interface AuthoringOptions<Templates extends DeclaredTemplates = AnyTemplate> {
  /**
   * Templates in code, made by `defineTemplates()`. Sends may then name only these, and stored ones by their ids.
   * Default: none.
   */
  readonly templates?: DefinedTemplates<Templates> | undefined
  /**
   * Layouts by name: `{ brand: { html: '<main>{{{content}}}</main>', text: '{{content}}' } }`. An organization's own
   * has precedence. Default: none.
   */
  readonly layouts?: SharedTextsOption | undefined
  /** Partials by name: `{ footer: { html: '<footer>Acme</footer>', text: 'Acme' } }`. Default: none. */
  readonly partials?: SharedTextsOption | undefined
  /**
   * Messages by locale and key, in ICU MessageFormat: `{ de: { 'welcome.title': 'Willkommen, {name}' } }`. An
   * organization's own has precedence. Default: none.
   */
  readonly messages?: Readonly<Record<string, CatalogueInput>> | undefined
  /** Locale (BCP 47) where neither the send, the recipient nor the organization has one. Default `en`. */
  readonly locale?: string | undefined
  /** IANA time zone of dates, likewise. Default `UTC`. */
  readonly timeZone?: string | undefined
}

export const AUTHORING_OPTIONS: readonly (keyof AuthoringOptions)[] = [
  'templates',
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
  readonly definitions: readonly CodeDefinition[]
}

/** @throws NotifierError `invalid_configuration` */
export function resolveAuthoring(
  { layouts, partials, templates, ...given }: AuthoringOptions,
  kinds: Kinds,
  configured: readonly string[],
  bounds: Bounds,
): ResolvedAuthoring {
  return {
    definitions: resolveCodeTemplates(templates, kinds, configured, bounds),
    application: resolveApplicationTexts({ layouts, partials }, bounds),
    languages: resolveApplicationLanguages(given, bounds),
  }
}
