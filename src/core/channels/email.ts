import { NotifierError } from '../errors/notifier-error.ts'
import { escapeHtml } from '../text/escape.ts'
import type { ChannelKind, PartLinks } from './channel-kind.ts'
import { canonicalEmail, isEmail } from './email-address.ts'
import type {
  Attachment,
  AttachmentRecord,
  EmailContent,
  EmailInput,
  EmailParts,
  ShownEmail,
} from './email-content.ts'
import { MAX_ATTACHMENT_BYTES } from './email-files.ts'
import { emailLint } from './email-lint.ts'
import { emailParts } from './email-parts.ts'
import { decodedLength } from './file-content.ts'
import { headerFault, needsPermission } from './mail-headers.ts'
import { splitMailbox } from './mailbox.ts'
import { assertSenderOfOrganization } from './senders.ts'

export type EmailKind = ChannelKind<'email', EmailInput, EmailContent, EmailParts>

/** @param allowedHeaders names in lower case of headers that messages may set although mail systems act on them */
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
    files: {
      maxBytes: MAX_ATTACHMENT_BYTES,
      isShown: ({ cid, size = 0 }: Partial<AttachmentRecord>) =>
        cid !== undefined && size <= MOST_SHOWN_BYTES,
    },
    assertParts: ({ headers }) => assertHeaders(headers ?? {}, allowedHeaders),
    senderOf: ({ from }) => (from === undefined ? undefined : canonicalEmail(from.address)),
    copiesOf: ({ cc = [], bcc = [] }) => [...cc, ...bcc].map(({ address }) => address),
    leaveOut: ({ cc, bcc, ...rest }, addresses) => ({
      ...rest,
      cc: cc?.filter(({ address }) => !addresses.has(address)),
      bcc: bcc?.filter(({ address }) => !addresses.has(address)),
    }),
    answers: ({ inReplyTo }) => inReplyTo,
    assertSender: (sender, { senders }) => assertSenderOfOrganization(sender, senders),
    wantsUnsubscribe: ({ unsubscribe }) => unsubscribe === true,
    mayUnsubscribe: (parts) =>
      parts?.unsubscribe !== false && parts?.cc === undefined && parts?.bcc === undefined,
    withSender,
    renderParts,
    showParts({ attachments, ...rest }): ShownEmail {
      if (attachments === undefined) return rest
      return { ...rest, attachments: shownFiles(attachments) }
    },
    lint: emailLint,
  }
}

/** The parts with a sender, unless they name one. */
function withSender(parts: EmailContent | undefined, sender: string): EmailContent {
  const mailbox = parts?.from === undefined ? splitMailbox(sender) : null
  if (mailbox === null) return parts ?? {}
  const { address, name } = mailbox
  return { ...parts, from: name === '' ? { address } : { address, name } }
}

function renderParts(
  { unsubscribe: _, inReplyTo: __, attachments, ...rest }: EmailContent,
  { unsubscribeUrl, listId, threadId }: PartLinks,
): EmailParts {
  const brought = {
    ...(listId === undefined ? {} : { 'List-Id': `<${listId}>` }),
    ...(threadId === undefined || headerFault('References', threadId) !== null
      ? {}
      : { 'In-Reply-To': threadId, References: threadId }),
  }
  return {
    ...rest,
    ...(Object.keys(brought).length === 0 ? {} : { headers: withBrought(rest.headers, brought) }),
    ...(attachments === undefined ? {} : { attachments: attachments.map(renderFile) }),
    ...(unsubscribeUrl === undefined ? {} : { unsubscribeUrl }),
  }
}

type StoredFile = NonNullable<EmailContent['attachments']>[number]

function fieldsOf({ filename, contentType, cid }: StoredFile): Omit<Attachment, 'content'> {
  return { filename, contentType, ...(cid === undefined ? {} : { cid }) }
}

/** Of the inline images of a mail that is shown, in total. */
const MOST_SHOWN_BYTES = 2 * 1024 * 1024

/** The files of a mail, of which the first inline images have their content. */
function shownFiles(files: readonly StoredFile[]): readonly AttachmentRecord[] {
  let left = MOST_SHOWN_BYTES
  return files.map((file) => {
    const size = 'id' in file ? file.size : decodedLength(file.content)
    const fields = { ...fieldsOf(file), size }
    const { cid, content } = file
    if (cid === undefined || content === undefined || size > left) return fields
    left -= size
    return {
      ...fields,
      content: typeof content === 'string' ? content : Buffer.from(content).toString('base64'),
    }
  })
}

function renderFile(file: StoredFile): Attachment {
  const { content = '' } = file
  return {
    ...fieldsOf(file),
    content: typeof content === 'string' ? Buffer.from(content, 'base64') : content,
  }
}

/** Headers with those of the category and the thread, unless the message names its own. */
function withBrought(
  headers: Readonly<Record<string, string>> = {},
  brought: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const others = Object.entries(brought).filter(([name]) => !own.has(name.toLowerCase()))
  return { ...headers, ...Object.fromEntries(others) }
}

/** Refuses headers on which mail systems act: they could change the sender, the recipients or the template. */
function assertHeaders(headers: Readonly<Record<string, string>>, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(headers)) {
    if (!needsPermission(name) || allowed.has(name.toLowerCase())) continue
    throw new NotifierError('invalid_parameter', {
      message: `"email.headers" contains "${name}", on which mail systems may act. Remove it, choose a name of your own that begins with "X-", or add it to the option "email.allowedHeaders".`,
      details: { field: 'email.headers', header: name, option: 'email.allowedHeaders' },
    })
  }
}
