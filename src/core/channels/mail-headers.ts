/**
 * The rules for headers of a mail that applications and messages add, shared by accept and composition, so that an
 * accepted mail never fails on them.
 */

/** Headers that mail or the service sets. */
const RESERVED =
  /^(?:from|to|cc|bcc|sender|reply-to|subject|date|message-id|return-path|received|dkim-signature|mime-version|content-.*|resent-.*|list-unsubscribe.*)$/i

/**
 * Registered headers that only describe a mail: no client or server acts on them. Of the others, many ask for receipts
 * (`Disposition-Notification-To`), offer addresses to answer (`List-Post`), claim a check (`ARC-…`, `BIMI-…`) or bring
 * keys (`Autocrypt`), and the registry grows.
 */
const DESCRIPTIVE: ReadonlySet<string> = new Set([
  'accept-language',
  'auto-submitted',
  'comments',
  'feedback-id',
  'importance',
  'in-reply-to',
  'keywords',
  'list-id',
  'organization',
  'precedence',
  'priority',
  'references',
  'sensitivity',
  'thread-index',
  'thread-topic',
  'user-agent',
])

/** Private headers that are not the application's own: `X-` and one of these words, alone or before a hyphen. */
const FOREIGN: readonly string[] = [
  // Providers and relays: they choose a sender, recipients, a template, a stream or a pool of addresses.
  'smtpapi|sg|sendgrid|mc|mandrill|msys|sparkpost|ses|amazon|pm|postmark|mailgun|mj|mailjet|mailin|sib|brevo',
  'sendinblue|elastic|elasticemail|mailersend|mt|mailtrap|smtp2go|smtpcom|socketlabs|resend|zoho|zeptomail|alidm',
  'infobip|postal|greenarrow|powermta|pmta|virtual-?mta|envid|job|binding|xs[^-]*',
  // Mail programs ask for receipts with these, or send answers and failures there.
  'confirm-reading-to|disposition-notification|return-receipt|rcpt-to|chameleon-return-to|read-receipt|errors-to',
  'bounces?|failed-recipients|msfbl|report-abuse|abuse|complaints-to|csa-complaints|list|unsubscribe',
  // Claims about where a mail comes from, and about checks of it.
  'sender|original-to|original-from|original-sender|original-recipient|original-authentication-results|originating-ip',
  'forwarded|resent|received|envelope|return-path|delivered-to|authenticated|authentication|auth|dkim|dmarc|spf|arc',
  'bimi|spam|virus|antivirus|ms|microsoft|exchange|forefront|eopattributedmessage|eoptenantattributedmessage',
  'google|gm|gmail|yahoo|ymail|apple|mozilla|proofpoint|mimecast|barracuda|ironport|rspamd',
]
const PRIVATE = new RegExp(`^x-(?!(?:${FOREIGN.join('|')})(?:-|$))`)
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]{0,900}$/u
/** Ids of mails (RFC 5322 3.6.4), and the sloppier ones of some mail programs. */
const MESSAGE_IDS = /^<[!-;=?-~]{1,250}@[!-;=?-~]{1,250}>(?: <[!-;=?-~]{1,250}@[!-;=?-~]{1,250}>)*$/
const THREADING: ReadonlySet<string> = new Set(['in-reply-to', 'references'])

/** The fault of a custom header. Null: allowed. */
export function headerFault(name: string, value: string): string | null {
  return headerNameFault(name) ?? headerValueFault(name, value)
}

/** The fault of a custom header's name. Null: allowed. */
export function headerNameFault(name: string): string | null {
  if (!HEADER_NAME.test(name)) return 'names must have 1 to 64 letters, digits and hyphens'
  return RESERVED.test(name) ? `"${name}" cannot be set here` : null
}

function headerValueFault(name: string, value: string): string | null {
  if (!isHeaderValue(value)) return `"${name}" is not one line of at most 900 characters`
  return THREADING.has(name.toLowerCase()) && !MESSAGE_IDS.test(value)
    ? `"${name}" must consist of message ids such as <id@example.com>, separated by single spaces`
    : null
}

/** True: a message may set the header only if an option allows it. */
export function needsPermission(name: string): boolean {
  const lower = name.toLowerCase()
  return !DESCRIPTIVE.has(lower) && !PRIVATE.test(lower)
}

/** One line of at most 900 characters. */
export function isHeaderValue(value: string): boolean {
  return typeof value === 'string' && ONE_LINE.test(value)
}
