import * as z from 'zod'
import { text } from '../input/fields.ts'
import { isFilename, isMediaType } from './mail-parts.ts'

/** The schema of the name of a file. */
export const filename: z.ZodType<string, string> = text(1, 255).refine(
  isFilename,
  'must be a file name without a path or control characters',
)

/** The schema of the type of a file. */
export const contentType: z.ZodType<string, string> = z
  .string()
  .max(128)
  .refine(isMediaType, 'must be a media type such as application/pdf')
