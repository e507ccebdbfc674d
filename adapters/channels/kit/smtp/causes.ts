import type { ErrorCode } from '../../../../src/core/errors/catalogue.ts'
import type { FaultScope } from '../../../../src/core/notification/outcome.ts'
import type { SmtpReply } from './reply.ts'

/** What a refusal is about. */
export interface Cause {
  readonly code: ErrorCode
  readonly scope: FaultScope
  /** The same mail may pass later, even if the server calls the refusal permanent. */
  readonly passes?: true | undefined
  readonly retryAfterMs?: number | undefined
}

/** Greylisting servers expect the same message again after some minutes, commonly five (RFC 6647 5.1). */
const GREYLIST_MS = 5 * 60_000
/** With the default eight attempts the last one comes 21 hours after the first. */
const MAILBOX_FULL_MS = 3 * 3_600_000

const of = (code: ErrorCode, scope: FaultScope): Cause => ({ code, scope })

const UNKNOWN = of('invalid_recipient', 'recipient')
const REFUSES = of('blocked_recipient', 'recipient')
const UNREACHABLE = of('recipient_unreachable', 'recipient')
const EXPIRED = of('expired', 'recipient')
const TOO_LARGE = of('message_too_large', 'message')
const CONTENT = of('content_rejected', 'message')
const SPAM = of('spam_detected', 'message')
const SENDER = of('invalid_sender', 'account')
const LOGIN = of('provider_auth_failed', 'account')
const SUSPENDED = of('provider_suspended', 'account')
/** The sending host is on a block list, or has a bad name. */
const NETWORK = of('spam_detected', 'provider')
const SENDS_TOO_MUCH: Cause = { code: 'provider_rate_limited', scope: 'account', passes: true }
const QUOTA_USED: Cause = { code: 'provider_quota_exceeded', scope: 'account', passes: true }
const GETS_TOO_MUCH: Cause = { code: 'provider_rate_limited', scope: 'recipient', passes: true }
const GREYLISTED: Cause = { ...GETS_TOO_MUCH, retryAfterMs: GREYLIST_MS }
export const FULL: Cause = {
  code: 'mailbox_full',
  scope: 'recipient',
  passes: true,
  retryAfterMs: MAILBOX_FULL_MS,
}

const ALL_OF = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'i')

const NO_MAILBOX = ALL_OF(
  /\b(?:no(?! valid recipients)|not (?:an?|our)|unknown|invalid|bad|non-?existent|unroute?able|undeliverable|disabled|inactive|deactivated|archived) (?:(?:such|local|mail|e-?mail|or|illegal|destination|known|valid|active|virtual) ){0,2}(?:user|recipient|mail ?box|address|account|alias|person|customer)/,
  /(?<!\b(?:ip|client|source|host|remote|return) )\b(?:user|recipient|mail ?box|address|account|alias|person|customer)s?\b[^.;]{0,40}\b(?:unknown|unavailable|not (?:be )?(?:found|known|valid|available|local|exist|listed|active)|notfound|not an? (?:valid|known|active)|invalid|disabled|inactive|deactivated|suspended|closed|terminated|discontinued|frozen|locked|no longer|does(?: not|n't) have)\b/,
  /\bdo(?:es)?(?:n't| not) exist|\baddress rejected|\brecipient rejected|recip(?:ient)?notfound|mailbox name not allowed|unknown local.?part|badrcptto|no one at this address|not a registered gateway user|is no longer valid/,
)

/**
 * The texts of refusals, in order of precedence: what concerns the sender, its network or a limit outweighs what the
 * same text says of a mailbox, since a recipient that is suppressed by mistake gets no more mails.
 *
 * From the published replies of Gmail (support.google.com/a/answer/3726730), Exchange Online
 * (learn.microsoft.com/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online), Yahoo
 * (senders.yahooinc.com/smtp-error-codes), iCloud (support.apple.com/102322), GMX (postmaster.gmx.net), QQ
 * (service.mail.qq.com/detail/122), Mimecast, Orange and others, and the texts of Postfix, Exim, Sendmail and qmail.
 */
const TEXTS: readonly (readonly [says: RegExp, cause: Cause])[] = [
  [/gr[ea]y-?\s?list|postgrey/i, GREYLISTED],
  [
    /receiving mail (?:too quickly|at a rate)|recipient thread limit|recipient's per hour|recipient has exceeded their limit|too many recipients(?! (?:this|per|in|an?|within|for) )/i,
    GETS_TOO_MUCH,
  ],
  // The recipient, or its organization, admits only certain senders, or not this one.
  [
    ALL_OF(
      /AuthRequired|RST\.NotAuthorized|(?:sender|client) (?:was |is )?not authenticated (?:by|for)|sender was not authenticated|allowed[- ]senders|(?:members?|subscribers?)[- ]only|not subscribed to this|only accept|senders to accept|not pre-approved|(?:not allowed|permission) to (?:post|write)|may not (?:post|write)/,
      /recipient preferences|user rules|user (?:rejected|refuse)|(?:blocked|rejected|black ?-?listed|refused) by (?:the |this )?(?:recipient|user)|customer block list|recipient (?:does not|doesn't) accept|recipient is (?:only|not) accepting|banned recipient/,
      /(?:recipient|recipient's|user|destinataire) (?:account|mailbox) (?:is |has been )?(?:blocked|bloque)|\b(?:mailbox|user) (?:is |has been )?blocked/,
    ),
    REFUSES,
  ],
  [
    /\b(?:mailbox|inbox)\b(?: (?:is|has|size|storage|limit|for user|exceeded|its))* (?:full|over|exceed|out of)|over ?(?:\w+ ){0,2}quota|mailbox quota|(?<!\b(?:submission|sending|sent|daily|hourly|monthly|messages?|relay|package) )\bquota (?:limit )?(?:is |has been )?exceed|quotaexceed|storage (?:space|limit|quota|allocation)|out of storage|exceed\w* storage|too much mail data|too many messages on the server|(?:mailbox|user) (?:is )?over ?limit|boite du destinataire pleine/i,
    FULL,
  ],
  [
    /(?:messages?|mails?|headers?|attachments?|body|data)\b[^.;]{0,40}\b(?:too (?:large|big|long)|size|length exceed)|(?:size|length) (?:limit|exceed)|exceeds? [^.;]{0,30}\bsize|RecipSizeLimit|too (?:large|big)\b/i,
    TOO_LARGE,
  ],
  [
    ALL_OF(
      /throttl|rate.?limit|too (?:many(?! (?:hops|related|headers))|fast|much)|excessive|frequency limited|threshold|permitted limits|limit for message recipients/,
      /(?:sending|hourly|daily|monthly|submission|outbound|messages?|relay|connection|receive)(?: \w+){0,2} (?:limit|quota|rate)|unusual (?:sending )?(?:activity|rate|volume|traffic)|unexpected volume|unusual traffic/,
      /\b(?:per|this|an|last|24) (?:hour|minute|second|day|session)s?\b|trop de (?:connexions|messages)|thread limit|sessions? limit/,
    ),
    SENDS_TOO_MUCH,
  ],
  // Not a part of a host's name, and not a table of Postfix's that lists recipients.
  [
    /(?<![.\w-])relay(?:ing)?\b(?![.-]\w)(?! recipient table)|rcpthosts|\bnot a gateway|don't handle mail for/i,
    LOGIN,
  ],
  [/(?:duplicate|invalid|missing|multiple|malformed|improper)\b[^.;]{0,40}\bheaders?/i, CONTENT],
  [
    /\bspf\b|\bdkim\b|\bdmarc\b|sender policy framework|domain-?keys|anti-?spoof|reverse[- ](?:dns|lookup)|\brdns\b|\bptr\b|\b(?:helo|ehlo)\b|forward dns|name lookup failed|cannot find your|is unauthenticated|unauthenticated e?-?mail|authentication (?:checks|information|results)|purported responsible|valid sender domain|mismatches client/i,
    SENDER,
  ],
  [
    /credentials|not authori[sz]ed to perform|(?:authentication|authenticate|authentification) (?:is )?(?:required|requise|invalide)|not (?:been )?authenticated|unauthenticated sender|(?:must|please|need to) (?:first )?(?:authenticate|log ?in)|smtp auth|don't authenticate|failed to authenticate/i,
    LOGIN,
  ],
  [
    /\bnot (?:been )?(?:verified|validated|confirmed)|unverified|identit(?:y|ies) failed|permissions? to send (?:as|on)|send ?as|not owned by|not (?:authori[sz]ed|allowed|permitted) to send(?! (?:(?:e-?)?mails? |messages? )?to\b)/i,
    SENDER,
  ],
  [
    /spam abuse|bad outbound sender|banned sender|tenant has exceeded|this tenant|unregistered domain|sending (?:is |has been )?(?:disabled|paused|suspended|restricted|denied)|(?:blocked|suspended|disabled) (?:for|from) sending|\b(?:your|sender'?s?|sending) (?:\w+ )?account\b|outbounds? disabled|not subscribed to/i,
    SUSPENDED,
  ],
  [
    ALL_OF(
      /banned|(?:black|block|deny)[ -]?list|spamhaus|spamcop|sorbs|\brbl\b|dnsbl|reputation|(?<!\bnot )\blisted (?:at|in|on|by|as)\b|blocked using|found (?:in|on) (?:one|dns)/,
      /(?:client|connecting|sending|source|sender) (?:host|ip|mta|server|network|system)\b|client \[|host network|\b(?:bad|dynamic|spam|suspected spam|this|the|from) ips?\b(?! name)|\byour (?:\w+ )?(?:ip|ips|host|server|network|isp)\b|\bips? (?:blocked|listed|black|is )|\bip[=:]|dynamic\b/,
      /connections? (?:from|will not|not|denied)|allowed to connect|not accepting connections|access from|your access|submit messages|(?:messages?|mail) from (?:\[?\d|ip\b|this|your)|permanently deferred|traffic not accepted|not currently accepting mail from|user complaints/,
    ),
    NETWORK,
  ],
  [
    /virus|malware|illegal attachment|executable|attachment (?:type|extension)|headers? (?:error|not|are not)|multiple addresses|rfc ?(?:2822|5322|822)|malformed|content (?:rejected|denied|presents)|bare line ?feed|unicode character/i,
    CONTENT,
  ],
  [/spam|\bube\b|unsolicited|\bjunk|phish|\bblocked\b/i, SPAM],
  [/message expired|queue.?expired|delivery time expired|unable to deliver in/i, EXPIRED],
  [
    /\bdns\b|name ?servers?\b|nxdomain|nonexistentdomain|\bmx (?:record|info|lookup|host)|lookup fail|not reachable|(?:routing|mail) loop|is looping|too many hops|hop count|\d hops|connection (?:refused|timed out|reset|timeout)|connect(?:ion)? to|tlsa|dane\b|dnssec|starttls/i,
    UNREACHABLE,
  ],
]

/** The server's opinion of the sender. One recipient's opinion does not extend to others. */
const ABOUT_SENDER =
  /\bsenders?\b|return.?path|badmailfrom|envelope from|from:? (?:address|header|domain)|mail from\b|emetteur/i
const TO_RECIPIENT = /\brecipient|\bto (?:this|the|that)\b/i
const POLICY =
  /polic(?:y|ies)|access denied|prohibit|not permitted|not authori[sz]ed|administrativ|restricted|security|\byour (?:\w+ )?(?:address|domain)\b/i
/** Exchange Online's words for an address that the organization does not have (5.4.1). */
const NOT_IN_DIRECTORY = /recipient address rejected: access denied/i
const LIMIT = /\blimit|\bquota\b|\brate\b/i
const FOR_NOW = /tempora(?:ry|rily)|try (?:again )?later|again later/i
const DISABLED = /disabled|inactive|deactivated|suspended|frozen|locked|archived/i

function byText({ words, detail }: SmtpReply): Cause | null {
  for (const [says, cause] of TEXTS) if (says.test(words)) return cause
  if (ABOUT_SENDER.test(words) && !TO_RECIPIENT.test(words)) return SENDER
  if (POLICY.test(words)) return detail === '4.1' && NOT_IN_DIRECTORY.test(words) ? UNKNOWN : REFUSES
  if (LIMIT.test(words)) return SENDS_TOO_MUCH
  if (!NO_MAILBOX.test(words)) return null
  if (FOR_NOW.test(words)) return UNREACHABLE
  // X.2.1 is a mailbox that exists and is switched off.
  return detail === '2.1' && DISABLED.test(words) ? REFUSES : UNKNOWN
}

/** RFC 3463 and its registry (RFC 7372, RFC 7505) by `subject.detail`, with the codes of Gmail and Exchange. */
const DETAILS: Readonly<Record<string, Cause>> = {
  '1.1': UNKNOWN,
  '1.2': UNKNOWN,
  '1.3': UNKNOWN,
  '1.6': UNKNOWN,
  '1.7': SENDER,
  '1.8': SENDER,
  '1.10': UNKNOWN,
  '1.90': QUOTA_USED,
  '1.351': UNKNOWN,
  '2.1': REFUSES,
  '2.2': FULL,
  '2.3': TOO_LARGE,
  '2.121': GETS_TOO_MUCH,
  '2.122': GETS_TOO_MUCH,
  '2.252': SENDER,
  '3.4': TOO_LARGE,
  '4.1': UNREACHABLE,
  '4.4': UNREACHABLE,
  '4.6': UNREACHABLE,
  '4.7': EXPIRED,
  '4.14': UNREACHABLE,
  '7.3': LOGIN,
  '7.20': SENDER,
  '7.21': SENDER,
  '7.22': SENDER,
  '7.23': SENDER,
  '7.24': SENDER,
  '7.25': SENDER,
  '7.26': SENDER,
  '7.27': SENDER,
  '7.28': SENDS_TOO_MUCH,
  '7.30': SENDER,
  '7.32': SENDER,
  '7.40': SENDER,
  '7.57': LOGIN,
  '7.60': SENDER,
  '7.64': LOGIN,
  '7.501': SUSPENDED,
  '7.502': SUSPENDED,
  '7.503': SUSPENDED,
  '7.506': SENDER,
  '7.508': SENDS_TOO_MUCH,
  '7.509': SENDER,
  '7.511': SUSPENDED,
  '7.512': CONTENT,
  '7.515': SENDER,
}

/** Policy refusals. Only the text names the policy. */
const POLICY_DETAILS: ReadonlySet<string> = new Set(['7.0', '7.1', '7.8', '7.9'])

function byDetail({ detail, class: digit }: SmtpReply): Cause | null {
  if (detail === null) return null
  const known = DETAILS[detail]
  if (known !== undefined) return known
  if (POLICY_DETAILS.has(detail)) return REFUSES
  if (detail.startsWith('6.')) return CONTENT
  const [, number] = /^7\.(\d{3})$/.exec(detail) ?? []
  if (number === undefined || digit === 4) return null
  // Exchange Online: banned addresses, suspended organizations, and the recipient's own rules.
  const code = Number(number)
  if (code >= 606 && code <= 649) return NETWORK
  if (code >= 700 && code <= 750) return SUSPENDED
  return code >= 900 || code <= 136 ? REFUSES : null
}

/** What a reply states. Null: neither its text nor its enhanced code is specific. */
export function causeOf(reply: SmtpReply): Cause | null {
  // X.4.5 also reports a full mail system.
  if (reply.detail === '4.5' && LIMIT.test(reply.words)) return QUOTA_USED
  const said = byText(reply)
  const coded = byDetail(reply)
  if (said === null || coded === null) return said ?? coded
  // A vague text, or one that blames the recipient, does not outweigh a code that blames the sender or the message.
  const blames = coded.scope !== 'recipient' || coded === FULL
  return (said === UNKNOWN || said === REFUSES) && blames ? coded : said
}
