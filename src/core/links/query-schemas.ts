import * as z from 'zod'
import { line } from '../rest/query-schemas.ts'

/** Query of a link in a message. */
export const linkQuery: z.ZodType<{ t: string; lang?: string | undefined }> = z.object({
  t: line.max(8_000).describe('The signed token of the link.'),
  lang: line
    .max(35)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
})
