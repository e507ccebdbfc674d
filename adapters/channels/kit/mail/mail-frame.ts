import * as z from 'zod'
import type { EmailKind } from '../../../../src/core/channels/email.ts'
import { canonicalEmail } from '../../../../src/core/channels/email-address.ts'
import { headerNameFault, isHeaderValue } from '../../../../src/core/channels/mail-headers.ts'
import { type Mailbox, parseMailbox } from '../../../../src/core/channels/mailbox.ts'
import {
  canonicalSender,
  isListedSender,
  MAX_SENDERS,
  SENDER,
} from '../../../../src/core/channels/senders.ts'
import type { PartsRefusal, Provider } from '../../../../src/core/ports/provider.ts'
import { checkOptions, wrongOption } from '../options.ts'

/** Options that all mail providers share. */
export interface MailOptions {
  /** The sender: `no-reply@example.com` or `Example <no-reply@example.com>`. */
  readonly from: string
  /**
   * Other senders that a message may name (`email.from`) and the provider has verified: addresses
   * (`news@example.com`), and domains (`example.com`, without subdomains).
   *
   * @default none: only the address of `from`, with any name
   */
  readonly senders?: readonly string[] | undefined
  /** Default address for replies, in the same format. A message can override it. */
  readonly replyTo?: string | undefined
  /** Additional headers for every mail, one line each. Headers of the mail format itself are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Converts HTML to the text alternative.
   *
   * @default a small converter for mails
   */
  readonly toText?: ((html: string) => string) | undefined
}

/** Validated {@link MailOptions}: see {@link mailFrame}. */
export interface MailFrame {
  readonly from: Mailbox
  /** Allowed senders in canonical form: addresses and domains. */
  readonly senders: ReadonlySet<string>
  readonly replyTo: Mailbox | null
  readonly headers: Readonly<Record<string, string>>
  /** The application's converter. Undefined: the built-in one. */
  readonly toText: ((html: string) => string) | undefined
}

/** A text without line breaks. */
export const line: z.ZodType<string> = z
  .string()
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line without control characters')

/** Schemas of {@link MailOptions}, for a provider's own schema. */
export interface MailShape {
  readonly from: z.ZodType<string>
  readonly senders: z.ZodType<readonly string[]>
  readonly replyTo: z.ZodType<string | undefined>
  readonly headers: z.ZodType<Readonly<Record<string, string>>>
  readonly toText: z.ZodType<((html: string) => string) | undefined>
}

export const mailShape: MailShape = {
  from: line,
  senders: z
    .array(
      z
        .string()
        .max(320)
        .refine((entry) => canonicalSender(entry) !== null, SENDER),
    )
    .max(MAX_SENDERS)
    .default([]),
  replyTo: line.optional(),
  headers: z
    .record(z.string(), z.string().refine(isHeaderValue, 'must be one line of at most 900 characters'))
    .default({}),
  toText: z
    .custom<(html: string) => string>((value) => typeof value === 'function', 'must be a function')
    .optional(),
}

const options = z.object({ ...mailShape })

/**
 * Validates the options that all mail providers share. Options of other names are left to the provider.
 *
 * @param plugin the provider's function, for errors
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const frame = mailFrame('acmeMail', { from: 'Shop <shop@example.com>', senders: ['example.com'] })
 */
export function mailFrame(plugin: string, mail: MailOptions): MailFrame {
  const given = checkOptions(plugin, options, mail)
  for (const name of Object.keys(given.headers)) {
    const fault = headerNameFault(name)
    if (fault !== null) throw wrongOption(plugin, 'headers', fault)
  }
  const from = mailbox(plugin, 'from', given.from)
  const senders = [from.address, ...given.senders].flatMap((entry) => canonicalSender(entry) ?? [])
  return {
    from,
    senders: new Set(senders),
    replyTo: given.replyTo === undefined ? null : mailbox(plugin, 'replyTo', given.replyTo),
    headers: { ...given.headers },
    toText: given.toText,
  }
}

/**
 * The members of a mail provider that name its senders, and refuse those which its options do not allow.
 *
 * @example
 * const frame = mailFrame('acmeMail', { from: 'Shop <shop@example.com>' })
 * const acmeMail = { name: 'acme-mail', ...sendersOnly(frame) }
 */
export function sendersOnly({
  senders,
}: MailFrame): Required<Pick<Provider<EmailKind>, 'refuses' | 'senders'>> {
  return {
    senders: [...senders],
    refuses: ({ from }) =>
      from === undefined || isListedSender(canonicalEmail(from.address), senders) ? null : FOREIGN,
  }
}

const FOREIGN: PartsRefusal = {
  code: 'invalid_sender',
  message: 'No provider allows this sender. Use one of the option "senders", or leave out "email.from".',
  field: 'from',
}

function mailbox(plugin: string, option: 'from' | 'replyTo', text: string): Mailbox {
  const parsed = parseMailbox(text)
  if (parsed !== null) return parsed
  throw wrongOption(
    plugin,
    option,
    'must be one address such as no-reply@example.com or Name <no-reply@example.com>',
  )
}
