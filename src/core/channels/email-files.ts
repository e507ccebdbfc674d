import * as z from 'zod'
import { UnreadableFile } from '../errors/unreadable-file.ts'
import { text } from '../input/fields.ts'
import { isFields } from '../input/json.ts'
import type { AttachedUpload, AttachmentContent, AttachmentInput } from './email-content.ts'
import { bytesOf, decodedLength, isBase64 } from './file-content.ts'
import { contentType, filename } from './file-fields.ts'
import { isContentId } from './mail-parts.ts'

const MAX_ATTACHMENTS = 10
/**
 * Limit for all attachments of one mail together, decoded. Encoding adds a third, and most servers accept 10 MB.
 */
export const MAX_ATTACHMENT_BYTES: number = 7 * 1024 * 1024
const MAX_BASE64 = 4 * Math.ceil(MAX_ATTACHMENT_BYTES / 3)

/** Converts bytes to base64. Values larger than any attachment stay unconverted. */
function base64Of(given: unknown, { addIssue }: z.RefinementCtx): unknown {
  if (given instanceof UnreadableFile) {
    addIssue({ code: 'custom', message: given.message })
    return z.NEVER
  }
  const bytes = bytesOf(given)
  if (bytes === null) return given
  if (bytes.byteLength > MAX_ATTACHMENT_BYTES) return ' '.repeat(MAX_BASE64 + 1)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

const content = z
  .string('must be bytes (Uint8Array) or base64')
  .min(1, 'must not be empty')
  .max(MAX_BASE64, `at most ${MAX_ATTACHMENT_BYTES} bytes`)
  .refine(isBase64, 'must be padded base64 without line breaks')
  .describe('Padded base64 without line breaks.')

/** A file with its content, or the id of an upload, to which the accept adds what the upload says about itself. */
type Parsed = { readonly [Name in keyof AttachmentContent | 'id']?: string | undefined }

const FILE = ['filename', 'contentType', 'content'] as const

const PATH =
  'is for calls in code, like a stream: give "content", or upload the file (POST /v1/attachments) and give its "id"'

const attachment = z.preprocess(
  (given, { addIssue }) => {
    // In code the path has been read before.
    if (!isFields(given) || given.path === undefined) return given
    addIssue({ code: 'custom', message: PATH, path: ['path'] })
    return z.NEVER
  },
  z
    .strictObject({
      id: text(1, 128)
        .optional()
        .describe('Id of an uploaded file, in place of `contentType` and `content`.'),
      filename: filename.optional().describe('Without a path. Of an uploaded file by default its own.'),
      contentType: contentType.optional().describe('A media type.'),
      cid: z
        .string()
        .refine(isContentId, 'must be 1 to 100 letters, digits and ._+@-')
        .optional()
        .describe('Makes an inline image, to which the HTML refers as `cid:…`. Unique in the mail.'),
      content: z.preprocess(base64Of, content).optional() as z.ZodType<string | undefined>,
    })
    .superRefine((file: Parsed, { addIssue }) => {
      if (file.id === undefined) {
        for (const name of FILE)
          if (file[name] === undefined) addIssue({ code: 'custom', path: [name], message: 'is required' })
        return
      }
      for (const name of ['content', 'contentType'] as const)
        if (file[name] !== undefined)
          addIssue({ code: 'custom', path: [name], message: 'cannot be given with "id"' })
    }),
) as unknown as z.ZodType<Parsed, AttachmentInput>

/** The schema of `email.attachments`. Streams and paths have been read before. */
export const attachments: z.ZodType<
  readonly (AttachmentContent | AttachedUpload)[],
  readonly AttachmentInput[]
> = z
  .array(attachment)
  .max(MAX_ATTACHMENTS)
  .refine(
    (all) => all.reduce((sum, { content = '' }) => sum + decodedLength(content), 0) <= MAX_ATTACHMENT_BYTES,
    `at most ${MAX_ATTACHMENT_BYTES} bytes in total, decoded`,
  )
  .refine(hasUniqueIds, 'each "cid" must be unique') as unknown as z.ZodType<
  readonly (AttachmentContent | AttachedUpload)[],
  readonly AttachmentInput[]
>

function hasUniqueIds(files: readonly Parsed[]): boolean {
  const ids = files.flatMap(({ cid }) => cid ?? [])
  return new Set(ids).size === ids.length
}
