import * as z from 'zod'
import { CALENDAR_METHODS } from '../channels/email-content.ts'
import type { RenderedMessage } from '../text/render.ts'

const mailbox = z.object({ address: z.string(), name: z.string().optional() })

/** Parts in responses: attachments without their content, except inline images. */
export const partsFields: {
  readonly [Part in 'email' | 'push' | 'slack']-?: z.ZodType<RenderedMessage[Part]>
} = {
  email: z
    .object({
      from: mailbox.optional(),
      replyTo: z.array(mailbox).optional(),
      cc: z.array(mailbox).optional(),
      bcc: z.array(mailbox).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      attachments: z
        .array(
          z.object({
            filename: z.string(),
            contentType: z.string(),
            cid: z.string().optional(),
            size: z.int(),
            content: z
              .string()
              .optional()
              .describe(
                'In base64. Only of inline images, of up to 2 MiB in a mail; of an upload only in a stored message.',
              ),
          }),
        )
        .optional()
        .describe('Attachments; `size` in bytes.'),
      calendar: z.object({ method: z.enum(CALENDAR_METHODS), content: z.string() }).optional(),
      unsubscribe: z.boolean().optional(),
    })
    .optional(),
  push: z.object({ data: z.record(z.string(), z.string()).optional() }).optional(),
  slack: z.object({ blocks: z.array(z.record(z.string(), z.unknown())).optional() }).optional(),
}
