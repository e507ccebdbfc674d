import * as z from 'zod'
import { HIGHEST_BOUNDS } from '../../core/input/bounds.ts'
import { text } from '../../core/input/fields.ts'
import { namedInput } from '../../core/rest/named.ts'
import { SHARED_NAME } from '../../core/text/shared-text.ts'

/** The sources of a layout or partial: at least one. */
export interface SharedSourceInput {
  /** For HTML. A layout has `{{{content}}}` once, where the template's text belongs. */
  readonly html?: string | null | undefined
  /** For plain text and for channels without HTML. A layout has `{{content}}` once. */
  readonly text?: string | null | undefined
}

/** Input for a layout or a partial. */
export interface SharedTextInput extends SharedSourceInput {
  /** Lower-case words joined by hyphens, at most 100 characters. Never changes. */
  readonly name: string
  /** Free text. */
  readonly description?: string | null | undefined
}

/** Changes of a layout or partial; absent fields stay, and null removes them. */
export interface SharedTextChange extends SharedSourceInput {
  /** The version that the change is based on. If there is a newer one, the change is refused. */
  readonly version?: number | undefined
  readonly description?: string | null | undefined
}

const name = z
  .string()
  .min(1)
  .max(100)
  .regex(SHARED_NAME, 'must be lower-case words joined by hyphens')
  .describe('Unique name, for example `brand`. It never changes.')

const description = text(0, 2000).nullish().describe('Free text.')
const source = text(1, HIGHEST_BOUNDS.sharedTextBytes).nullish()
const version = z
  .int()
  .min(1)
  .optional()
  .describe('The version that the change is based on. Refused if there is a newer one.')

const layoutSources = {
  html: source.describe('For HTML, with `{{{content}}}` once, where the text of the template belongs.'),
  text: source.describe('For plain text and channels without HTML, with `{{content}}` once.'),
}
const partialSources = {
  html: source.describe('Inserted where HTML names the partial: `{{> name}}`.'),
  text: source.describe('Inserted where plain text or a subject names it, and on channels without HTML.'),
}

function assertSource({ value, issues }: z.core.ParsePayload<SharedSourceInput>): void {
  if (value.html == null && value.text == null)
    issues.push({
      code: 'custom',
      input: value,
      path: ['html'],
      message: 'must be given, or "text", or both',
    })
}

/** The schema of a new layout. */
export const layoutInput: z.ZodType<SharedTextInput, SharedTextInput> = namedInput(
  'LayoutRequest',
  z.object({ name, ...layoutSources, description }).check(assertSource),
)

/** The schema of a new partial. */
export const partialInput: z.ZodType<SharedTextInput, SharedTextInput> = namedInput(
  'PartialRequest',
  z.object({ name, ...partialSources, description }).check(assertSource),
)

/** The schema of changes of a layout. */
export const layoutChange: z.ZodType<SharedTextChange, SharedTextChange> = namedInput(
  'LayoutChange',
  z.object({
    version,
    ...layoutSources,
    description,
  }),
)

/** The schema of changes of a partial. */
export const partialChange: z.ZodType<SharedTextChange, SharedTextChange> = namedInput(
  'PartialChange',
  z.object({
    version,
    ...partialSources,
    description,
  }),
)
