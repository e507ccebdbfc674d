import * as z from 'zod'
import { fewFields, text } from '../domain/input/fields.ts'
import {
  envelopeAddress,
  headerNameFault,
  isFilename,
  isHeaderValue,
  isMediaType,
} from '../domain/mail-parts.ts'

/** What an e-mail may carry beside its text. */
export interface EmailContent {
  /** Where answers go: one plain address. Default: as the provider's options say. */
  readonly replyTo?: string | undefined
  /**
   * More headers, at most 20, on one line each and at most 900 characters long. Those that mail itself is made of are
   * refused, and those that relays obey (`X-SMTPAPI`, `X-SES-…`) unless the option `email.allowedHeaders` names them.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** At most 10, and 7 MiB in all. Over HTTP the limit of bodies (`maxBodyBytes`, 1 MiB) comes first. */
  readonly attachments?: readonly AttachmentContent[] | undefined
  /**
   * True: the mail carries a signed link for a one-click unsubscription (RFC 8058), which suppresses the recipient. Needs
   * the option `publicUrl`, with https. Default false.
   */
  readonly unsubscribe?: boolean | undefined
}

/** A file in an e-mail. */
export interface AttachmentContent {
  /** Without a path; at most 255 characters. */
  readonly filename: string
  /** A media type such as `application/pdf`. */
  readonly contentType: string
  /** Base64, padded, without line breaks. */
  readonly content: string
}

/** An {@link EmailContent} as a call takes it. */
export interface EmailInput extends Omit<EmailContent, 'attachments'> {
  /** At most 10, and 7 MiB in all. Over HTTP the limit of bodies (`maxBodyBytes`, 1 MiB) comes first. */
  readonly attachments?: readonly AttachmentInput[] | undefined
}

/** An {@link AttachmentContent} as a call takes it. */
export interface AttachmentInput extends Omit<AttachmentContent, 'content'> {
  /** Bytes (a `Buffer` is a `Uint8Array`), or base64, padded, without line breaks; over HTTP base64. Copied by the call. */
  readonly content: string | Uint8Array | ArrayBuffer
}

/** An {@link EmailContent} as callers are shown it: of attachments the size, never the content. */
export interface ShownEmail extends Omit<EmailContent, 'attachments'> {
  readonly attachments?: readonly AttachmentRecord[] | undefined
}

/** An attachment without its content. */
export interface AttachmentRecord {
  readonly filename: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
}

/** An {@link EmailContent} as providers get it. */
export interface EmailParts {
  /** A plain address. */
  readonly replyTo?: string | undefined
  /** More headers, names and values already judged: no line breaks, none that the mail system owns. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly attachments?: readonly Attachment[] | undefined
  /** HTTPS address of the one-click unsubscription (RFC 8058): goes into List-Unsubscribe and List-Unsubscribe-Post. */
  readonly unsubscribeUrl?: string | undefined
}

/** A file in an e-mail. */
export interface Attachment {
  readonly filename: string
  /** A media type. */
  readonly contentType: string
  readonly content: Uint8Array
}

const MAX_HEADERS = 20
const MAX_ATTACHMENTS = 10
/**
 * Of all attachments of one mail together, decoded: a mail is larger by a third, and most servers take 10 MB.
 *
 * @internal all of it for tests
 */
export const MAX_ATTACHMENT_BYTES: number = 7 * 1024 * 1024
const MAX_BASE64 = 4 * Math.ceil(MAX_ATTACHMENT_BYTES / 3)

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

/** The one schema behind `email` in code, the REST API and OpenAPI. */
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
