import * as z from 'zod'
import { namedInput } from '../rest/named.ts'
import { type TemplateChange, templateTextFields } from './input.ts'
import { assertOneText } from './text-fields.ts'

/** Changes of a draft; absent fields stay. */
export interface DraftChange
  extends Omit<TemplateChange, 'version' | 'name' | 'channel' | 'description' | 'category'> {
  /** The edit that the change is based on; 0: there is no draft yet. If there is a newer one, it is refused. */
  readonly edit?: number | undefined
}

/** The schema of {@link DraftChange}. */
export const draftChange: z.ZodType<DraftChange, DraftChange> = namedInput(
  'DraftChange',
  z
    .object({
      edit: z
        .int()
        .min(0)
        .optional()
        .describe('The edit that the change is based on; 0: none. Refused if there is a newer one.'),
      ...templateTextFields,
    })
    .check(assertOneText),
)

/** How to publish a draft. */
export interface PublishOptions {
  /** The edit to publish. Default: the newest. */
  readonly edit?: number | undefined
  /** The version to replace. Default: the one that the draft began with. */
  readonly version?: number | undefined
}

/** The schema of {@link PublishOptions}. */
export const publishOptions: z.ZodType<PublishOptions, PublishOptions> = namedInput(
  'PublishRequest',
  z.strictObject({
    edit: z.int().min(1).optional().describe('The edit to publish. Default: the newest.'),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('The version to replace. Default: the one that the draft began with.'),
  }),
)
