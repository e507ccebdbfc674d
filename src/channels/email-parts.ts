import * as z from 'zod'
import { fewFields, text } from '../domain/input/fields.ts'
import {
  envelopeAddress,
  headerNameFault,
  isFilename,
  isHeaderValue,
  isMediaType,
} from '../domain/mail-parts.ts'

/** Parts of an e-mail beside its text. */
export interface EmailContent {
  /** Address for replies, without a display name. Default: the provider's `replyTo` option, if it has one. */
  readonly replyTo?: string | undefined
  /**
   * Additional headers: at most 20, each on one line of at most 900 characters. Headers of the mail format itself are
   * refused. So are headers that relays obey (`X-SMTPAPI`, `X-SES-…`), unless the option `email.allowedHeaders` lists
   * them.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** At most 10 files and 7 MiB in total. Over HTTP, `maxBodyBytes` (1 MiB) is the lower limit. */
  readonly attachments?: readonly AttachmentContent[] | undefined
  /**
   * True: adds a signed link for one-click unsubscription (RFC 8058), which suppresses the recipient. Requires the
   * option `publicUrl` with https. Default: false.
   */
  readonly unsubscribe?: boolean | undefined
}

/** A file in an e-mail. */
export interface AttachmentContent {
  /** File name without a path, at most 255 characters. */
  readonly filename: string
  /** Media type, for example `application/pdf`. */
  readonly contentType: string
  /** Padded base64 without line breaks. */
  readonly content: string
}

/** An {@link EmailContent} as a call accepts it. */
export interface EmailInput extends Omit<EmailContent, 'attachments'> {
  /** At most 10 files and 7 MiB in total. Over HTTP, `maxBodyBytes` (1 MiB) is the lower limit. */
  readonly attachments?: readonly AttachmentInput[] | undefined
}

/** An {@link AttachmentContent} as a call accepts it. */
export interface AttachmentInput extends Omit<AttachmentContent, 'content'> {
  /**
   * Bytes (a `Buffer` is a `Uint8Array`), copied by the call, or padded base64 without line breaks. Over HTTP: base64.
   */
  readonly content: string | Uint8Array | ArrayBuffer
}

/** An {@link EmailContent} in responses: attachments have a size in place of their content. */
export interface ShownEmail extends Omit<EmailContent, 'attachments'> {
  readonly attachments?: readonly AttachmentRecord[] | undefined
}

/** An attachment without its content. */
export interface AttachmentRecord {
  readonly filename: string
  readonly contentType: string
  /** Size in bytes. */
  readonly size: number
}

/** An {@link EmailContent} as providers receive it. */
export interface EmailParts {
  /** Address without a display name. */
  readonly replyTo?: string | undefined
  /** Additional headers, validated: no line breaks, no headers of the mail format itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly attachments?: readonly Attachment[] | undefined
  /** HTTPS address of the one-click unsubscription (RFC 8058), for List-Unsubscribe and List-Unsubscribe-Post. */
  readonly unsubscribeUrl?: string | undefined
}

/** A file in an e-mail. */
export interface Attachment {
  readonly filename: string
  /** Media type. */
  readonly contentType: string
  readonly content: Uint8Array
}

const MAX_HEADERS = 20
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
function base64Of(given: unknown): unknown {
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
        addIssue({ code: 'custom', message: 'header names must be unique, ignoring case' })
      }
      for (const name of names) {
        const fault = headerNameFault(name)
        if (fault !== null) addIssue({ code: 'custom', message: fault })
      }
    }),
)

/** The schema of `email` in code, in the REST API and in OpenAPI. */
export const emailParts: z.ZodType<EmailContent, EmailInput> = z.strictObject({
  replyTo: text(1, 320)
    .refine((value) => envelopeAddress(value) !== null, 'must be one e-mail address without a display name')
    .optional()
    .describe('Address for replies, without a display name.'),
  headers: headers
    .optional()
    .describe(
      `Additional headers, at most ${MAX_HEADERS}. Headers of the mail format and of mail relays are refused.`,
    ),
  attachments: z
    .array(attachment)
    .max(MAX_ATTACHMENTS)
    .refine(
      (all) => all.reduce((sum, { content }) => sum + decodedLength(content), 0) <= MAX_ATTACHMENT_BYTES,
      `at most ${MAX_ATTACHMENT_BYTES} bytes in total, decoded`,
    )
    .optional()
    .describe('At most 10 files and 7 MiB in total, decoded.'),
  unsubscribe: z
    .boolean()
    .optional()
    .describe('True: add a link for one-click unsubscription (RFC 8058). Requires the option `publicUrl`.'),
})
