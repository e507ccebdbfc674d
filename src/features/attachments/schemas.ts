import * as z from 'zod'
import { named } from '../../core/rest/named.ts'
import { timestamp } from '../../core/rest/schemas.ts'
import type { UploadRecord } from './model.ts'

export const uploadRecord: z.ZodType<UploadRecord> = named(
  'Upload',
  z.object({
    id: z.string(),
    filename: z.string(),
    contentType: z.string(),
    size: z.int().min(1).describe('In bytes.'),
    expiresAt: timestamp.describe('When the upload ends. Accepted mails keep their copies.'),
  }),
)
