import * as z from 'zod'
import { contentType, filename } from '../../core/channels/file-fields.ts'

/** What an upload says about its content. */
export const uploadInput: z.ZodType<{ filename: string; contentType: string }> = z.strictObject({
  filename,
  contentType,
})
