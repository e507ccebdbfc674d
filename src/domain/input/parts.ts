import * as z from 'zod'
import { envelopeAddress, headerNameFault, isFilename, isHeaderValue, isMediaType } from '../mail-parts.ts'
import type {
  AttachmentContent,
  AttachmentInput,
  EmailContent,
  EmailInput,
  PushContent,
  SlackContent,
} from '../message-parts.ts'
import { ownerOfDataKey } from '../push-data.ts'
import { fewFields, jsonObject, text } from './fields.ts'

const MAX_HEADERS = 20
const MAX_ATTACHMENTS = 10
/**
 * Of all attachments of one mail together, decoded: a mail is larger by a third, and most servers take 10 MB.
 *
 * @internal all of it for tests
 */
export const MAX_ATTACHMENT_BYTES: number = 7 * 1024 * 1024
const MAX_BASE64 = 4 * Math.ceil(MAX_ATTACHMENT_BYTES / 3)
const MAX_BLOCKS = 50
const MAX_BLOCKS_LENGTH = 100_000
const MAX_DATA_BYTES = 4_096
const DATA_TOO_LARGE = `at most ${MAX_DATA_BYTES} bytes of keys and values`

/** The size of what a valid base64 text stands for. */
export function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

/** Only what an encoder writes: whatever decodes alike in one reader and not in another is refused. */
function isBase64(value: string): boolean {
  return value.length % 4 === 0 && Buffer.from(value, 'base64').toString('base64') === value
}

/** Bytes as base64; larger ones than any attachment may be are not converted. */
function base64Of(given: unknown): unknown {
  const bytes = bytesOf(given)
  if (bytes === null) return given
  if (bytes.byteLength > MAX_ATTACHMENT_BYTES) return ' '.repeat(MAX_BASE64 + 1)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Also of another realm, as test runners have them. Of wider elements nobody knows the order of the bytes. */
function bytesOf(given: unknown): Uint8Array | null {
  const kind = Object.prototype.toString.call(given)
  if (kind === '[object ArrayBuffer]') return new Uint8Array(given as ArrayBuffer)
  return kind === '[object Uint8Array]' && ArrayBuffer.isView(given) ? (given as Uint8Array) : null
}

const content = z
  .string('must be bytes (Uint8Array), or base64')
  .min(1, 'must not be empty')
  .max(MAX_BASE64, `at most ${MAX_ATTACHMENT_BYTES} bytes`)
  .refine(isBase64, 'must be base64, padded and without line breaks')
  .describe('Base64, padded, without line breaks.')

const attachment: z.ZodType<AttachmentContent, AttachmentInput> = z.strictObject({
  filename: text(1, 255)
    .refine(isFilename, 'must be a file name without a path or control characters')
    .describe('Without a path.'),
  contentType: z
    .string()
    .max(128)
    .refine(isMediaType, 'must be a media type such as application/pdf')
    .describe('A media type.'),
  content: z.preprocess(base64Of, content) as unknown as z.ZodType<string, AttachmentInput['content']>,
})

type Texts = Readonly<Record<string, string>>

const headers: z.ZodType<Texts, Texts> = fewFields(
  MAX_HEADERS,
  `at most ${MAX_HEADERS} headers`,
  z
    .record(z.string(), text(0, 900).refine(isHeaderValue, 'must be one line of at most 900 characters'))
    .superRefine((given, { addIssue }) => {
      const names = Object.keys(given)
      if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
        addIssue({ code: 'custom', message: 'a header may be given once, in whatever case' })
      }
      for (const name of names) {
        const fault = headerNameFault(name)
        if (fault !== null) addIssue({ code: 'custom', message: fault })
      }
    }),
)

/** What an e-mail may carry beside its text. */
export const emailParts: z.ZodType<EmailContent, EmailInput> = z.strictObject({
  replyTo: text(1, 320)
    .refine((value) => envelopeAddress(value) !== null, 'must be one plain e-mail address')
    .optional()
    .describe('Where answers go: one plain address.'),
  headers: headers
    .optional()
    .describe(`More headers, at most ${MAX_HEADERS}, none that mail itself is made of, or that relays obey.`),
  attachments: z
    .array(attachment)
    .max(MAX_ATTACHMENTS)
    .refine(
      (all) => all.reduce((sum, { content }) => sum + decodedLength(content), 0) <= MAX_ATTACHMENT_BYTES,
      `at most ${MAX_ATTACHMENT_BYTES} bytes in all, decoded`,
    )
    .optional()
    .describe('At most 10, and 7 MiB in all, decoded.'),
  unsubscribe: z
    .boolean()
    .optional()
    .describe('True: the mail carries a one-click unsubscription (RFC 8058). Needs the option `publicUrl`.'),
})

/** What a push message may carry beside its text. */
export const pushParts: z.ZodType<PushContent, PushContent> = z.strictObject({
  // No key is empty.
  data: fewFields(
    MAX_DATA_BYTES,
    DATA_TOO_LARGE,
    z.record(text(1, 128), text(0, MAX_DATA_BYTES)).superRefine((data, { addIssue }) => {
      if (Buffer.byteLength(Object.entries(data).flat().join('')) > MAX_DATA_BYTES) {
        addIssue({ code: 'custom', message: DATA_TOO_LARGE })
      }
      for (const key of Object.keys(data)) {
        const owner = ownerOfDataKey(key)
        if (owner !== null) addIssue({ code: 'custom', message: `the key "${key}" belongs to ${owner}` })
      }
    }),
  )
    .optional()
    .describe('For the application on the device: text values, at most 4 KB of keys and values.'),
})

/** What a Slack message may carry beside its text. */
export const slackParts: z.ZodType<SlackContent, SlackContent> = z.strictObject({
  blocks: z
    .array(jsonObject)
    .min(1)
    .max(MAX_BLOCKS)
    .refine(
      (blocks) => JSON.stringify(blocks).length <= MAX_BLOCKS_LENGTH,
      `at most ${MAX_BLOCKS_LENGTH} characters of JSON`,
    )
    .optional()
    .describe('Block Kit blocks, at most 50; `body` stays the text of notifications.'),
})
