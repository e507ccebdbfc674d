import * as z from 'zod'
import { ERRORS, type ErrorCode, PLUGIN_CODE, type PluginErrorCode } from '../errors/catalogue.ts'
import { text } from '../input/fields.ts'
import { metadataFilter } from '../input/metadata.ts'
import { type LabelFilter, MAX_RECIPIENT_ID } from './labels.ts'

const WRONG_CODE = 'must be an error code of the catalogue, or of a plug-in'

/** A code of the catalogue or of a plug-in. */
export const errorCode: z.ZodType<ErrorCode, ErrorCode> = z.union(
  [
    z.enum(Object.keys(ERRORS) as (keyof typeof ERRORS)[]),
    z.string().regex(PLUGIN_CODE, WRONG_CODE) as unknown as z.ZodType<PluginErrorCode, PluginErrorCode>,
  ],
  WRONG_CODE,
)

/** The schemas of a {@link LabelFilter}. */
export const labelFilters: {
  readonly [Name in keyof LabelFilter]-?: z.ZodType<LabelFilter[Name], LabelFilter[Name]>
} = {
  metadata: metadataFilter.optional().describe('Pairs that must all match.'),
  recipient: text(1, MAX_RECIPIENT_ID).optional().describe("The application's id of the person."),
  category: text(1, 128).optional().describe('Id of the category.'),
  groupId: text(1, 64).optional().describe('The group that it was sent with.'),
}
