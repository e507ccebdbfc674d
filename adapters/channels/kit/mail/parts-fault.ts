import type {
  Attachment,
  CalendarContent,
  EmailParts,
  MailAddress,
} from '../../../../src/core/channels/email-content.ts'
import { headerFault } from '../../../../src/core/channels/mail-headers.ts'
import {
  calendarFault,
  envelopeAddress,
  isContentId,
  isFilename,
  isMediaType,
} from '../../../../src/core/channels/mail-parts.ts'
import { isMailboxName } from '../../../../src/core/channels/mailbox.ts'

/** Validates the parts again where they become headers, because other code paths may skip validation. */
export function partsFault(parts: EmailParts): string | null {
  const { headers = {}, attachments = [], calendar, unsubscribeUrl } = parts
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value)
    if (fault !== null) return `A header cannot be sent: ${fault}.`
  }
  if (unsubscribeUrl !== undefined && unsubscribeHeaders(unsubscribeUrl) === null) {
    return 'The unsubscribe address is not an https URL.'
  }
  return addressesFault(parts) ?? firstFault(attachments, fileFault) ?? invitationFault(calendar)
}

function addressesFault({ from, replyTo, cc, bcc }: EmailParts): string | null {
  const fields = [
    ['sender', from === undefined ? [] : [from]],
    ['address for replies', replyTo],
    ['recipient of a copy', cc],
    ['recipient of a blind copy', bcc],
  ] as const
  return firstFault(fields, ([what, all = []]) =>
    Array.isArray(all) && all.every(isMailbox)
      ? null
      : `The ${what} is not a single e-mail address with an optional name.`,
  )
}

function isMailbox(given: MailAddress): boolean {
  const { name = '', address } = given ?? {}
  return typeof address === 'string' && envelopeAddress(address) !== null && isMailboxName(name)
}

function fileFault({ filename, contentType, content, cid }: Attachment): string | null {
  if (!isFilename(filename)) return 'The name of an attachment is not a file name without a path.'
  if (!isMediaType(contentType)) return `The media type of "${filename}" is invalid.`
  if (cid !== undefined && !isContentId(cid)) return `The content id of "${filename}" is invalid.`
  // A mail client could read text instead of bytes as a path.
  return content instanceof Uint8Array ? null : `The content of "${filename}" is not bytes.`
}

function invitationFault(calendar: CalendarContent | undefined): string | null {
  if (calendar === undefined) return null
  const fault = calendarFault(calendar.method, calendar.content)
  return fault === null ? null : `The calendar invitation ${fault}.`
}

function firstFault<Item>(all: readonly Item[], faultOf: (item: Item) => string | null): string | null {
  for (const item of all) {
    const fault = faultOf(item)
    if (fault !== null) return fault
  }
  return null
}

/**
 * The headers of a one-click unsubscription (RFC 8058): `List-Unsubscribe` and `List-Unsubscribe-Post`.
 *
 * @param url `email.unsubscribeUrl` of a message
 * @returns null: not an https URL of at most 900 characters
 *
 * @example
 * const headers = unsubscribeHeaders('https://shop.example.com/unsubscribe?t=abc')
 * // { 'List-Unsubscribe': '<https://shop.example.com/unsubscribe?t=abc>', 'List-Unsubscribe-Post': … }
 */
export function unsubscribeHeaders(url: string): Readonly<Record<string, string>> | null {
  const href = unsubscribeHref(url)
  if (href === null) return null
  // The second one permits a POST without confirmation.
  return { 'List-Unsubscribe': `<${href}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** The URL parser escapes every character that could end the header's `<…>`. */
function unsubscribeHref(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, href } = new URL(text)
  return protocol === 'https:' && /^[!-;=?-~]{1,900}$/.test(href) ? href : null
}
