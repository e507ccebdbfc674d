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
  /** Partials by name, as {@link layouts}. Default: none. */
  readonly partials?: SharedTextsOption | undefined
}

export const AUTHORING_OPTIONS: readonly (keyof AuthoringOptions)[] = ['layouts', 'partials']

/** The options with all defaults. */
export interface ResolvedAuthoring {
  readonly application: ApplicationTexts
}

/** @throws NotifierError `invalid_configuration` */
export function resolveAuthoring({ layouts, partials }: AuthoringOptions): ResolvedAuthoring {
  return { application: resolveApplicationTexts({ layouts, partials }) }
}
