import * as z from 'zod'
import { assertWithin, type Bounds, bytesOf, HIGHEST_BOUNDS } from '../../core/input/bounds.ts'
import { fewFields, text } from '../../core/input/fields.ts'
import { namedInput } from '../../core/rest/named.ts'
import { MESSAGE_KEY } from '../../core/text/language.ts'

/** Messages by key, in ICU MessageFormat: `{ 'welcome.title': 'Welcome, {name}' }`. */
export type CatalogueInput = Readonly<Record<string, string>>

const key = z.string().max(200).regex(MESSAGE_KEY, 'must be names joined by dots')

/** The messages of a catalogue. */
export const catalogueMessages: z.ZodType<CatalogueInput, CatalogueInput> = fewFields(
  HIGHEST_BOUNDS.catalogueMessages,
  `must have at most ${HIGHEST_BOUNDS.catalogueMessages} messages`,
  z.record(key, text(1, HIGHEST_BOUNDS.messageCharacters)),
)

/**
 * @param field in errors
 * @throws NotifierError `invalid_parameter` for too many messages, bytes or tokens; messages are checked one by one
 */
export function assertCatalogueBounds(messages: CatalogueInput, field: string, bounds: Bounds): void {
  const entries = Object.entries(messages)
  assertWithin(field, entries.length, 'catalogueMessages', 'messages', bounds)
  const size = entries.reduce((sum, [name, message]) => sum + name.length + bytesOf(message), 0)
  assertWithin(field, size, 'catalogueBytes', 'bytes with its keys', bounds)
  const tokens = entries.reduce((sum, [, message]) => sum + tokensIn(message), 0)
  assertWithin(field, tokens, 'catalogueTokens', 'tokens in its messages', bounds)
}

/** At least the number of arguments, branches, number signs and words of skeletons, without parsing. */
export function tokensIn(source: string): number {
  const signs = source.match(/[{#]/g)?.length ?? 0
  const skeletons = source.match(/::[^{}]*/g) ?? []
  return skeletons.reduce((sum, skeleton) => sum + skeleton.trim().split(/\s+/).length, signs)
}

/** A whole catalogue of a locale. */
export interface CataloguePut {
  readonly messages: CatalogueInput
  /** The version that the change is based on; 0: there is no catalogue yet. If there is a newer one, it is refused. */
  readonly version?: number | undefined
}

/** The schema of {@link CataloguePut}. */
export const cataloguePut: z.ZodType<CataloguePut, CataloguePut> = namedInput(
  'CatalogueRequest',
  z.object({
    messages: catalogueMessages.describe(
      'Messages by key, in ICU MessageFormat. Replaces all of the locale.',
    ),
    version: z
      .int()
      .min(0)
      .optional()
      .describe('The version that the change is based on; 0: none. Refused if there is a newer one.'),
  }),
)
