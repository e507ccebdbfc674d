import * as z from 'zod'
import { text } from '../domain/input/fields.ts'
import { isContentId, isFilename, isMediaType } from '../domain/mail-parts.ts'
import { UnreadableFile } from '../domain/unreadable-file.ts'
import type { AttachmentContent, AttachmentInput, AttachmentWithContent } from './email-content.ts'

const MAX_ATTACHMENTS = 10
/**
 * Limit for all attachments of one mail together, decoded. Encoding adds a third, and most servers accept 10 MB.
 *
 * @internal exported for tests
 */
export const MAX_ATTACHMENT_BYTES: number = 7 * 1024 * 1024
const MAX_BASE64 = 4 * Math.ceil(MAX_ATTACHMENT_BYTES / 3)

/** Decoded size of valid base64. */
export function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

/** Accepts only canonical base64, because decoders disagree about the rest. */
function isBase64(value: string): boolean {
  return value.length % 4 === 0 && Buffer.from(value, 'base64').toString('base64') === value
}

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

/** Accepts bytes of another realm (test runners). Arrays of wider elements have no defined byte order. */
function bytesOf(given: unknown): Uint8Array | null {
  const kind = Object.prototype.toString.call(given)
  if (kind === '[object ArrayBuffer]') return new Uint8Array(given as ArrayBuffer)
  return kind === '[object Uint8Array]' && ArrayBuffer.isView(given) ? (given as Uint8Array) : null
}

const content = z
  .string('must be bytes (Uint8Array) or base64')
  .min(1, 'must not be empty')
  .max(MAX_BASE64, `at most ${MAX_ATTACHMENT_BYTES} bytes`)
  .refine(isBase64, 'must be padded base64 without line breaks')
  .describe('Padded base64 without line breaks.')

/** Streams and paths have been read before. */
type Read = Omit<AttachmentWithContent, 'path'>

const attachment: z.ZodType<AttachmentContent, Read> = z.strictObject({
  filename: text(1, 255)
    .refine(isFilename, 'must be a file name without a path or control characters')
    .describe('Without a path.'),
  contentType: z
    .string()
    .max(128)
    .refine(isMediaType, 'must be a media type such as application/pdf')
    .describe('A media type.'),
  cid: z
    .string()
    .refine(isContentId, 'must be 1 to 100 letters, digits and ._+@-')
    .optional()
    .describe('Makes an inline image, to which the HTML refers as `cid:…`. Unique in the mail.'),
  content: z.preprocess(base64Of, content) as unknown as z.ZodType<string, Read['content']>,
})

/** The schema of `email.attachments`. */
export const attachments: z.ZodType<readonly AttachmentContent[], readonly AttachmentInput[]> = (
  z.array(attachment) as unknown as z.ZodArray<z.ZodType<AttachmentContent, AttachmentInput>>
)
  .max(MAX_ATTACHMENTS)
  .refine(
    (all) => all.reduce((sum, { content }) => sum + decodedLength(content), 0) <= MAX_ATTACHMENT_BYTES,
    `at most ${MAX_ATTACHMENT_BYTES} bytes in total, decoded`,
  )
  .refine(hasUniqueIds, 'each "cid" must be unique')

function hasUniqueIds(files: readonly AttachmentContent[]): boolean {
  const ids = files.flatMap(({ cid }) => cid ?? [])
  return new Set(ids).size === ids.length
}
