import * as z from 'zod'
import { HIGHEST_BOUNDS } from '../input/bounds.ts'
import { fewFields, text } from '../input/fields.ts'
import { canonicalLocale } from '../input/locale.ts'
import { MAX_SUBJECT_LENGTH } from './compile.ts'
import type { GivenText } from './message-text.ts'
import { assertOneText } from './text-fields.ts'

/** The text of a template in a locale: `html`, `text` or both, or a `body`. */
export interface VariantInput extends GivenText {
  /** Default: the subject of the template. */
  readonly subject?: string | null | undefined
}

/** Texts by locale. In an update null removes a locale, and others stay. */
export type VariantsInput = Readonly<Record<string, VariantInput | null>>

const source = text(1, HIGHEST_BOUNDS.textBytes).nullish()

const variant = z
  .strictObject({
    subject: text(0, MAX_SUBJECT_LENGTH).nullish().describe('Default: the subject of the template.'),
    html: source,
    text: source,
    body: source,
    format: z.enum(['text', 'html']).nullish(),
  })
  .check(assertOneText, ({ value, issues }) => {
    if (value.body == null && value.html == null && value.text == null)
      issues.push({
        code: 'custom',
        input: value,
        path: ['body'],
        message: 'must be given, or "html" or "text"',
      })
  })

/** The schema of {@link VariantsInput}. */
export const variantsInput: z.ZodType<VariantsInput, VariantsInput> = fewFields(
  HIGHEST_BOUNDS.locales,
  `must have at most ${HIGHEST_BOUNDS.locales} locales`,
  z.record(
    z.string().refine((name) => canonicalLocale(name) !== null, 'must be a locale, such as de or fr-BE'),
    variant.nullable(),
  ),
).describe(
  'Its text in other locales: `{ "de": { "subject": …, "html": …, "text": … } }`. In an update null removes one.',
) as z.ZodType<VariantsInput, VariantsInput>
