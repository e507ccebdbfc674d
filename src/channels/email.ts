import type { ChannelKind, PartLinks } from '../domain/channel-kind.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { isObeyedHeader } from '../domain/mail-parts.ts'
import { assertSenderOfOrganization } from '../domain/senders.ts'
import { escapeHtml } from '../domain/template/escape.ts'
import { canonicalEmail, isEmail } from './email-address.ts'
import type { EmailContent, EmailInput, EmailParts, ShownEmail } from './email-content.ts'
import { decodedLength } from './email-files.ts'
import { emailParts } from './email-parts.ts'

export type EmailKind = ChannelKind<'email', EmailInput, EmailContent, EmailParts>

/** @param allowedHeaders names in lower case of relay headers that messages may set */
export function emailKind(allowedHeaders: ReadonlySet<string>): EmailKind {
  return {
    name: 'email',
    recipient: 'an e-mail address',
    checkRecipient: (to) => (isEmail(to) ? null : { code: 'invalid_email' }),
    canonical: canonicalEmail,
    // A nonexistent mailbox is permanent.
    suppressesRefused: true,
    subject: 'the subject',
    html: true,
    escape: (value, { format }) => (format === 'html' ? escapeHtml(value) : value),
    parts: emailParts,
    files: true,
    assertParts: ({ headers }) => assertHeaders(headers ?? {}, allowedHeaders),
    senderOf: ({ from }) => (from === undefined ? undefined : canonicalEmail(from.address)),
    copiesOf: ({ cc = [], bcc = [] }) => [...cc, ...bcc].map(({ address }) => address),
    leaveOut: ({ cc, bcc, ...rest }, addresses) => ({
      ...rest,
      cc: cc?.filter(({ address }) => !addresses.has(address)),
      bcc: bcc?.filter(({ address }) => !addresses.has(address)),
    }),
    assertSender: (sender, { senders }) => assertSenderOfOrganization(sender, senders),
    wantsUnsubscribe: ({ unsubscribe }) => unsubscribe === true,
    renderParts,
    showParts({ attachments, ...rest }): ShownEmail {
      if (attachments === undefined) return rest
      const shown = attachments.map(({ content, ...file }) => ({ ...file, size: decodedLength(content) }))
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
