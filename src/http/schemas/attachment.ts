import * as z from 'zod'
import type { UploadRecord } from '../../services/attachments/tenant.ts'
import { timestamp } from './common.ts'

export const uploadRecord: z.ZodType<UploadRecord> = z.object({
  id: z.string(),
  filename: z.string(),
  contentType: z.string(),
  size: z.int().min(1).describe('In bytes.'),
  expiresAt: timestamp.describe('When the upload ends. Accepted mails keep their copies.'),
})
