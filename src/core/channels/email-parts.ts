import * as z from 'zod'
import { bytesOf } from '../input/bounds.ts'
import { fewFields, text } from '../input/fields.ts'
import { agreeing } from '../rest/named.ts'
import { isEmail } from './email-address.ts'
import {
  CALENDAR_METHODS,
  type CalendarContent,
  type EmailContent,
  type EmailInput,
  type MailAddress,
  type MailAddressInput,
} from './email-content.ts'
import { attachments } from './email-files.ts'
import { headerFault, isHeaderValue } from './mail-headers.ts'
import { calendarFault } from './mail-parts.ts'
import { isMailboxName, splitMailbox } from './mailbox.ts'

const MAX_HEADERS = 20
const MAX_REPLY_TO = 10
const MAX_COPIES = 50
/** Longest display name in characters. */
const MAX_NAME = 128
/** Longer than any id of a notification. */
const MAX_ID = 64
/** Bytes. */
const MAX_CALENDAR = 256 * 1024

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
      for (const [name, value] of Object.entries(given)) {
        const fault = headerFault(name, value)
        if (fault !== null) addIssue({ code: 'custom', message: fault })
      }
    }),
)

const MAILBOX =
  'must be one e-mail address, as text (a@example.com, Name <a@example.com>) or { name, address }'

const mailbox: z.ZodType<MailAddress, MailAddressInput> = z
  .union(
    [text(1, MAX_NAME + 330), z.strictObject({ address: text(1, 320), name: text(0, MAX_NAME).optional() })],
    MAILBOX,
  )
  .transform((given, { addIssue }) => {
    const { name = '', address } = typeof given === 'string' ? (splitMailbox(given) ?? NONE) : given
    if (isEmail(address) && name.length <= MAX_NAME && isMailboxName(name))
      return name.trim() === '' ? { address } : { address, name: name.trim() }
    addIssue({ code: 'custom', message: MAILBOX })
    return z.NEVER
  })
const NONE = { name: '', address: '' }

/** One mailbox, or a list. */
function mailboxes(
  most: number,
): z.ZodType<readonly MailAddress[], MailAddressInput | readonly MailAddressInput[]> {
  const list = z.array(mailbox).min(1, 'must not be empty').max(most, `at most ${most} addresses`)
  const either = z.union([mailbox.transform((one) => [one]), list], `${MAILBOX}, or a list of them`)
  // A union would not say which entry of a list is wrong, or that there are too many.
  const checked = z.preprocess((given, { issues }) => {
    if (!Array.isArray(given)) return given
    const { success, error } = list.safeParse(given)
    if (success) return given
    issues.push(...error.issues.map((issue) => ({ ...issue, input: given }) as z.core.$ZodRawIssue))
    return z.NEVER
  }, either)
  return checked as unknown as ReturnType<typeof mailboxes>
}

const calendar: z.ZodType<CalendarContent, CalendarContent> = z
  .strictObject({
    method: z.enum(CALENDAR_METHODS),
    content: text(1, MAX_CALENDAR)
      .refine((content) => bytesOf(content) <= MAX_CALENDAR, `at most ${MAX_CALENDAR} bytes`)
      .describe('An iCalendar object (RFC 5545), from `BEGIN:VCALENDAR`, with the same `METHOD`.'),
  })
  .superRefine(({ method, content }, { addIssue }) => {
    const fault = calendarFault(method, content)
    if (fault !== null) addIssue({ code: 'custom', message: fault, path: ['content'] })
  })

const parts = z
  .strictObject({
    from: mailbox
      .optional()
      .describe(
        'The sender, in place of that of the provider. A provider and the organization must allow it; otherwise `invalid_sender`.',
      ),
    replyTo: mailboxes(MAX_REPLY_TO)
      .optional()
      .describe(`One address for replies, or a list of at most ${MAX_REPLY_TO}.`),
    cc: mailboxes(MAX_COPIES)
      .optional()
      .describe(`One recipient of a copy whom all see, or a list of at most ${MAX_COPIES}.`),
    bcc: mailboxes(MAX_COPIES)
      .optional()
      .describe(`One recipient of a hidden copy, or a list of at most ${MAX_COPIES}.`),
    headers: headers
      .optional()
      .describe(
        `Additional headers, at most ${MAX_HEADERS}. Headers of the mail format, and those on which mail systems act, are refused.`,
      ),
    inReplyTo: text(1, MAX_ID)
      .optional()
      .describe(
        'Id of an earlier mail of the organization, in whose thread mail programs show this one: sets In-Reply-To and References, unless `headers` has them.',
      ),
    attachments: attachments.optional().describe('At most 10 files and 7 MiB in total, decoded.'),
    calendar: calendar.optional().describe('A calendar invitation, beside the text.'),
    unsubscribe: z
      .boolean()
      .optional()
      .describe(
        'True: add a link for one-click unsubscription (RFC 8058). Requires the option `publicUrl`, and neither `cc` nor `bcc`.',
      ),
  })
  .refine(({ unsubscribe, cc, bcc }) => unsubscribe !== true || (cc === undefined && bcc === undefined), {
    message: 'requires one addressee: leave out "cc" and "bcc"',
    path: ['unsubscribe'],
  })

/** The schema of `email` in code, in the REST API and in OpenAPI. */
export const emailParts: z.ZodType<EmailContent, EmailInput> = agreeing(parts)
