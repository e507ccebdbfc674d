import validator from 'validator'
import type { ChannelKind, PartLinks } from '../domain/channel-kind.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { envelopeAddress, isObeyedHeader } from '../domain/mail-parts.ts'
import { escapeHtml } from '../domain/template/escape.ts'
import {
  decodedLength,
  type EmailContent,
  type EmailInput,
  type EmailParts,
  emailParts,
  type ShownEmail,
} from './email-parts.ts'

// Most mail servers refuse quoted local parts. UTF-8 local parts need SMTPUTF8, which most APIs lack.
const EMAIL = { allow_utf8_local_part: false, allow_display_name: false, require_tld: true } as const
const BEYOND_ASCII = /[^\0-\x7f]/

export type EmailKind = ChannelKind<'email', EmailInput, EmailContent, EmailParts>

/** @param allowedHeaders names in lower case of relay headers that messages may set */
export function emailKind(allowedHeaders: ReadonlySet<string>): EmailKind {
  return {
    name: 'email',
    recipient: 'an e-mail address',
    checkRecipient: (to) => (isEmail(to) ? null : { code: 'invalid_email' }),
    // Mail servers treat `Ada@` and `ada@` as one mailbox. A domain is the same in Unicode and in punycode.
    canonical: (to) => (BEYOND_ASCII.test(to) ? (envelopeAddress(to) ?? to) : to).toLowerCase(),
    // A nonexistent mailbox is permanent.
    suppressesRefused: true,
    subject: 'the subject',
    html: true,
    escape: (value, { format }) => (format === 'html' ? escapeHtml(value) : value),
    parts: emailParts,
    assertParts: ({ headers }) => assertHeaders(headers ?? {}, allowedHeaders),
    wantsUnsubscribe: ({ unsubscribe }) => unsubscribe === true,
    renderParts,
    showParts({ attachments, ...rest }): ShownEmail {
      if (attachments === undefined) return rest
      const shown = attachments.map(({ filename, contentType, content }) => ({
        filename,
        contentType,
        size: decodedLength(content),
      }))
      return { ...rest, attachments: shown }
    },
  }
}

function renderParts(
  { unsubscribe: _, attachments, ...rest }: EmailContent,
  { unsubscribeUrl }: PartLinks,
): EmailParts {
  return {
    ...rest,
    ...(attachments === undefined
      ? {}
      : { attachments: attachments.map((one) => ({ ...one, content: Buffer.from(one.content, 'base64') })) }),
    ...(unsubscribeUrl === undefined ? {} : { unsubscribeUrl }),
  }
}

/** Refuses headers that mail relays obey: they could change the sender, the recipients or the template. */
function assertHeaders(headers: Readonly<Record<string, string>>, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(headers)) {
    if (!isObeyedHeader(name) || allowed.has(name.toLowerCase())) continue
    throw new NotifierError('invalid_parameter', {
      message: `"email.headers" contains "${name}", which mail relays obey. Remove it, or add it to the option "email.allowedHeaders".`,
      details: { field: 'email.headers', header: name, option: 'email.allowedHeaders' },
    })
  }
}

/**
 * Addresses that validator always accepts. Its check takes 2 µs, half the cost of the rest of an accept. Punycode is
 * excluded, because it can be invalid.
 */
const PLAIN_EMAIL =
  /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i

/** @internal */
export function isPlainEmail(to: string): boolean {
  return to.length <= 128 && to.indexOf('@') <= 64 && PLAIN_EMAIL.test(to)
}

function isEmail(to: string): boolean {
  if (isPlainEmail(to)) return true
  return !to.includes('"') && validator.isEmail(to, EMAIL) && envelopeAddress(to) !== null
}
