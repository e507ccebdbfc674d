import * as z from 'zod'
import type { RenderedMessage } from '../../services/render.ts'

/** Parts in responses: attachments without their content. */
export const partsFields: {
  readonly [Part in 'email' | 'push' | 'slack']-?: z.ZodType<RenderedMessage[Part]>
} = {
  email: z
    .object({
      replyTo: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      attachments: z
        .array(z.object({ filename: z.string(), contentType: z.string(), size: z.int() }))
        .optional()
        .describe('Attachments without their content; `size` in bytes.'),
      unsubscribe: z.boolean().optional(),
    })
    .optional(),
  push: z.object({ data: z.record(z.string(), z.string()).optional() }).optional(),
  slack: z.object({ blocks: z.array(z.record(z.string(), z.unknown())).optional() }).optional(),
}
