import * as z from 'zod'
import { CATEGORY_ID } from './category.ts'

/** The valid form of an id, to follow "must be". */
export const CATEGORY_ID_FORM = '1 to 64 lower-case letters, digits and hyphens'

/** The id of a category, or a former one. */
export const categoryId: z.ZodType<string, string> = z
  .string()
  .regex(CATEGORY_ID, `must be ${CATEGORY_ID_FORM}`)
