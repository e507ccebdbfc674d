import { describe, expect, it } from 'vitest'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import type { SmtpMoment } from '../support/scripted-smtp.ts'

/*
 * The tables of reference "providers" 6.1, spoken by a real server to the real client: so that what is assumed of
 * nodemailer's errors (which command they name, what they keep of the reply) is tested too.
 */
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const smtpProvider = scriptedProvider()

type Row = readonly [
  moment: Exclude<SmtpMoment, 'begun' | 'after'>,
  reply: string,
  kind: 'rejected' | 'retry',
  code: string,
  scope: 'recipient' | 'message' | 'account' | 'provider',
  retryAfterMs?: number,
]

const UNKNOWN = ['rejected', 'invalid_recipient', 'recipient'] as const

const QUOTA = ['retry', 'provider_quota_exceeded', 'account'] as const
/** The sending host is on a block list: another provider may do better. */
const LISTED = ['rejected', 'spam_detected', 'provider'] as const
/** Not suppressed. */
const BLOCKED = ['rejected', 'blocked_recipient', 'recipient'] as const

const ROWS: readonly Row[] = [
  // x.1.1, x.1.2, x.1.3, x.1.6, x.1.10
  ['rcpt', '550 5.1.1 User unknown', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '550 5.1.2 Host unknown', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '553 5.1.3 Bad address syntax', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '551 5.1.6 Mailbox has moved', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '556 5.1.10 Recipient address has null MX', 'rejected', 'invalid_recipient', 'recipient'],
  ['content', '550 5.1.1 User unknown', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '450 4.1.2 Domain not found', 'retry', 'invalid_recipient', 'recipient'],
  ['rcpt', '550 User unknown', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '551 User not local', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '553 Mailbox name not allowed', 'rejected', 'invalid_recipient', 'recipient'],
  ['rcpt', '550 #5.1.0 Address rejected.', 'rejected', 'invalid_recipient', 'recipient'],
  [
    'rcpt',
    '550 5.5.0 Requested action not taken: mailbox unavailable',
    'rejected',
    'invalid_recipient',
    'recipient',
  ],
  // what says that there is no such mailbox, and so suppresses it
  ['rcpt', '550', ...UNKNOWN],
  ['rcpt', '550 5.0.0', ...UNKNOWN],
  ['rcpt', '550 Requested action not taken: mailbox unavailable', ...UNKNOWN],
  ['rcpt', '550 No such user here', ...UNKNOWN],
  ['rcpt', '550 no mailbox here by that name', ...UNKNOWN],
  ['rcpt', '550 Unknown or illegal alias', ...UNKNOWN],
  ['rcpt', '550 Unrouteable address', ...UNKNOWN],
  ['rcpt', '550 Invalid Recipient', ...UNKNOWN],
  ['rcpt', '550 Recipient not found', ...UNKNOWN],
  ['rcpt', '550 <spam-relay@example.com>: user unknown', ...UNKNOWN],
  ['rcpt', '550 relay1.mx-relay.example said: user unknown', ...UNKNOWN],
  ['rcpt', '550 The email account that you tried to reach does not exist.', ...UNKNOWN],
  ['rcpt', '550 This account has been disabled or discontinued [#102]', ...UNKNOWN],
  ['rcpt', "554 delivery error: This user doesn't have an example.com account", ...UNKNOWN],
  // what says nothing of the mailbox
  ['rcpt', '550 Refused', ...BLOCKED],
  ['rcpt', '553 Refused', ...BLOCKED],
  ['rcpt', '550 Administrative prohibition', ...BLOCKED],
  ['rcpt', '550 Rejected by policy: address rejected', ...BLOCKED],
  ['rcpt', '550 Recipient address rejected: Access denied', ...BLOCKED],
  ['rcpt', '550 Invalid IP address', ...BLOCKED],
  ['rcpt', '550 The user rejected your message', ...BLOCKED],
  ['rcpt', '550 User only accepts mail from known senders', ...BLOCKED],
  ['rcpt', '550 The sender may not write to this group', ...BLOCKED],
  ['rcpt', '550 5.4.1 No answer from host', 'rejected', 'recipient_unreachable', 'recipient'],
  ['rcpt', '550 Mailbox is full', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  ['rcpt', '550 Rate limit exceeded', 'retry', 'provider_rate_limited', 'account'],
  ['rcpt', '550 Too many messages', 'retry', 'provider_rate_limited', 'account'],
  ['rcpt', '550 5.7.1 Daily sending limit reached', 'retry', 'provider_rate_limited', 'account'],
  ['rcpt', '550-No such user here\r\n550 Sender verify failed', 'rejected', 'invalid_sender', 'account'],
  ['rcpt', '550 Sender address does not exist', 'rejected', 'invalid_sender', 'account'],
  ['rcpt', '550 5.7.1 Refused because of your DMARC policy', 'rejected', 'invalid_sender', 'account'],
  ['rcpt', '550 No reverse DNS', 'rejected', 'invalid_sender', 'account'],
  [
    'rcpt',
    "553 sorry, that domain isn't in my rcpthosts (#5.7.1)",
    'rejected',
    'provider_auth_failed',
    'account',
  ],
  // x.1.7, x.1.8, x.7.27
  ['mail', '550 5.1.7 Bad sender syntax', 'rejected', 'invalid_sender', 'account'],
  ['mail', '553 5.1.8 Sender domain does not exist', 'rejected', 'invalid_sender', 'account'],
  ['rcpt', '550 5.1.8 Sender address rejected', 'rejected', 'invalid_sender', 'account'],
  ['rcpt', '450 4.1.8 Sender address rejected: Domain not found', 'retry', 'invalid_sender', 'account'],
  ['mail', '550 5.7.27 Sender address has null MX', 'rejected', 'invalid_sender', 'account'],
  ['mail', '550 Sender refused', 'rejected', 'invalid_sender', 'account'],
  ['mail', '553 Sender refused', 'rejected', 'invalid_sender', 'account'],
  // at MAIL nobody has named the recipient yet
  ['mail', '550 5.1.1 User unknown', 'rejected', 'invalid_sender', 'account'],
  ['mail', '550 5.2.1 Mailbox disabled', 'rejected', 'invalid_sender', 'account'],
  ['mail', '550 5.7.1 Not permitted to send as this address', 'rejected', 'invalid_sender', 'account'],
  ['mail', '554 Refused', 'rejected', 'invalid_sender', 'account'],
  ['mail', '550 5.4.1 Access denied', 'rejected', 'invalid_sender', 'account'],
  ['mail', '450 4.1.2 Domain not found', 'retry', 'invalid_sender', 'account'],
  ['mail', '552 5.2.2 Over quota', 'retry', 'provider_quota_exceeded', 'account'],
  ['mail', '552 Exceeded storage allocation', 'retry', 'provider_quota_exceeded', 'account'],
  ['mail', '451 Greylisted', 'retry', 'provider_rate_limited', 'recipient', 5 * MINUTE],
  // x.2.1
  ['rcpt', '550 5.2.1 Mailbox disabled', 'rejected', 'blocked_recipient', 'recipient'],
  ['rcpt', '450 4.2.1 Mailbox temporarily disabled', 'retry', 'recipient_unreachable', 'recipient'],
  // x.2.2
  ['rcpt', '452 4.2.2 Mailbox full', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  ['rcpt', '552 5.2.2 Mailbox full', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  ['content', '552 5.2.2 Over quota', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  ['rcpt', '452 Insufficient system storage', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  ['rcpt', '552 Exceeded storage allocation', 'retry', 'mailbox_full', 'recipient', 3 * HOUR],
  // x.2.3, x.3.4
  ['content', '552 5.2.3 Message length exceeds limit', 'rejected', 'message_too_large', 'message'],
  ['mail', '552 5.3.4 Message too big for system', 'rejected', 'message_too_large', 'message'],
  ['content', '552 Message size exceeds fixed limit', 'rejected', 'message_too_large', 'message'],
  // x.3.x, x.4.x
  ['rcpt', '421 4.3.0 Temporary system problem', 'retry', 'provider_unavailable', 'provider'],
  ['rcpt', '451 4.3.5 Server configuration problem', 'retry', 'provider_unavailable', 'recipient'],
  ['mail', '451 4.3.0 Queue file write error', 'retry', 'provider_unavailable', 'provider'],
  ['content', '451 4.3.0 Error: queue file write error', 'retry', 'provider_unavailable', 'provider'],
  ['rcpt', '451 4.4.1 No answer from host', 'retry', 'provider_unavailable', 'recipient'],
  ['content', '421 4.4.2 Bad connection', 'retry', 'provider_unavailable', 'provider'],
  ['content', '450 4.4.6 Routing loop', 'retry', 'provider_unavailable', 'provider'],
  ['content', '450 4.4.7 Delivery time expired', 'retry', 'provider_unavailable', 'provider'],
  ['mail', '450 Try again', 'retry', 'provider_unavailable', 'provider'],
  ['data', '451 Local error in processing', 'retry', 'provider_unavailable', 'provider'],
  ['rcpt', '450 Mailbox busy', 'retry', 'provider_unavailable', 'recipient'],
  ['rcpt', '550 5.4.4 Unable to route', 'rejected', 'recipient_unreachable', 'recipient'],
  [
    'rcpt',
    '550 5.4.1 Recipient address rejected: Access denied',
    'rejected',
    'invalid_recipient',
    'recipient',
  ],
  ['content', '550 5.4.7 Message expired', 'rejected', 'expired', 'recipient'],
  ['rcpt', '550 5.4.5 Daily user sending quota exceeded', ...QUOTA],
  ['mail', '550 5.4.5 Daily SMTP relay limit exceeded for user', ...QUOTA],
  ['rcpt', '452 4.4.5 Daily sending limit exceeded', ...QUOTA],
  ['rcpt', '451 4.4.5 Insufficient disk space', 'retry', 'provider_unavailable', 'recipient'],
  // x.5.x and 500 to 504
  ['mail', '500 5.5.2 Syntax error', 'rejected', 'provider_error', 'message'],
  ['mail', '501 5.5.4 Invalid arguments', 'rejected', 'provider_error', 'message'],
  ['mail', '502 5.5.1 Command not implemented', 'rejected', 'provider_error', 'message'],
  ['rcpt', '504 5.5.4 Parameter not implemented', 'rejected', 'provider_error', 'message'],
  ['data', '503 5.5.1 Bad sequence of commands', 'retry', 'provider_unavailable', 'provider'],
  ['mail', '503 Bad sequence of commands', 'retry', 'provider_unavailable', 'provider'],
  // x.6.x
  ['content', '554 5.6.0 Message contains invalid header', 'rejected', 'content_rejected', 'message'],
  ['content', '554 5.6.3 Conversion required but not supported', 'rejected', 'content_rejected', 'message'],
  ['content', '554 Transaction failed', 'rejected', 'content_rejected', 'message'],
  // x.7.0, x.7.1
  ['content', '554 5.7.1 Message rejected as spam', 'rejected', 'spam_detected', 'message'],
  ['content', '550 5.7.1 Blocked by policy', 'rejected', 'spam_detected', 'message'],
  ['rcpt', '550 5.7.1 Client host is blacklisted', ...LISTED],
  ['rcpt', '554 5.7.0 Poor reputation', ...LISTED],
  ['rcpt', '554 Service unavailable; blocked using zen.spamhaus.org', ...LISTED],
  ['rcpt', '550 Your IP address is unknown to us', ...LISTED],
  ['mail', '550 5.7.1 Rejected as spam', ...LISTED],
  ['rcpt', '550 5.7.1 Recipient does not accept mail from you', 'rejected', 'blocked_recipient', 'recipient'],
  ['rcpt', '550 5.7.0 Refused', 'rejected', 'blocked_recipient', 'recipient'],
  ['rcpt', '554 Refused', 'rejected', 'blocked_recipient', 'recipient'],
  ['rcpt', '554 5.7.1 <ada@example.com>: Relay access denied', 'rejected', 'provider_auth_failed', 'account'],
  ['rcpt', '550 Unable to relay', 'rejected', 'provider_auth_failed', 'account'],
  // x.7.8, x.7.9, 535, 530, 534
  ['auth', '535 5.7.8 Authentication credentials invalid', 'rejected', 'provider_auth_failed', 'account'],
  ['auth', '534 5.7.9 Authentication mechanism is too weak', 'rejected', 'provider_auth_failed', 'account'],
  ['auth', '535 Incorrect authentication data', 'rejected', 'provider_auth_failed', 'account'],
  ['auth', '550 Login denied', 'rejected', 'provider_auth_failed', 'account'],
  ['mail', '530 5.7.0 Authentication required', 'rejected', 'provider_auth_failed', 'account'],
  ['mail', '530 Must issue a STARTTLS command first', 'rejected', 'provider_auth_failed', 'account'],
  ['mail', '550 5.7.1 Authentication required', 'rejected', 'provider_auth_failed', 'account'],
  ['rcpt', '550 5.7.8 Bad credentials', 'rejected', 'provider_auth_failed', 'account'],
  ['rcpt', '550 Client was not authenticated', 'rejected', 'provider_auth_failed', 'account'],
  // the same codes where nobody logs in
  ['content', '554 5.7.9 Not accepted for policy reasons', 'rejected', 'blocked_recipient', 'recipient'],
  ['rcpt', '550 5.7.8 Refused', 'rejected', 'blocked_recipient', 'recipient'],
  ['content', '451 4.7.9 Try again later', 'retry', 'provider_rate_limited', 'account'],
  ['auth', '454 4.7.0 Temporary authentication failure', 'retry', 'provider_unavailable', 'provider'],
  ['auth', '421 4.3.0 Try later', 'retry', 'provider_unavailable', 'provider'],
  [
    'auth',
    '454 Throttling failure: Maximum sending rate exceeded.',
    'retry',
    'provider_rate_limited',
    'account',
  ],
  // x.7.20 to x.7.26, those of Gmail and of Microsoft
  ...['20', '21', '22', '23', '24', '25', '26', '30', '32', '40', '509', '515'].map(
    (detail): Row => [
      'content',
      `550 5.7.${detail} Domain authentication failed`,
      'rejected',
      'invalid_sender',
      'account',
    ],
  ),
  // x.7.28, 4.7.x, greylisting
  ['content', '421 4.7.28 Unusual rate of mail', 'retry', 'provider_rate_limited', 'account'],
  ['content', '550 5.7.28 Unusual rate of mail', 'retry', 'provider_rate_limited', 'account'],
  ['mail', '450 4.7.1 Too much mail from your address', 'retry', 'provider_rate_limited', 'account'],
  ['rcpt', '451 4.7.1 Please try again later', 'retry', 'provider_rate_limited', 'recipient'],
  [
    'rcpt',
    '451 4.7.0 Greylisting in action, try again',
    'retry',
    'provider_rate_limited',
    'recipient',
    5 * MINUTE,
  ],
  [
    'rcpt',
    '450 Greylisted, see http://postgrey.example',
    'retry',
    'provider_rate_limited',
    'recipient',
    5 * MINUTE,
  ],
  ['rcpt', '451 Gray-listed', 'retry', 'provider_rate_limited', 'recipient', 5 * MINUTE],
  [
    'mail',
    '454 4.7.0 Throttling failure: Daily message quota exceeded.',
    'retry',
    'provider_rate_limited',
    'account',
  ],
  ['mail', '421 4.7.0 Try again later, closing connection', 'retry', 'provider_rate_limited', 'account'],
  ['rcpt', '452 4.5.3 Too many recipients', 'retry', 'provider_rate_limited', 'recipient'],
  // greeting, EHLO
  ['greeting', '554 No SMTP service here', 'rejected', 'provider_unavailable', 'provider'],
  ['greeting', '421 Service not available', 'retry', 'provider_unavailable', 'provider'],
  ['greeting', '421 Too many connections from your address', 'retry', 'provider_rate_limited', 'account'],
  // unknown
  ['rcpt', '550 5.7.10 Whatever', 'rejected', 'provider_error', 'message'],
  ['rcpt', '599 5.9.9 Whatever', 'rejected', 'provider_error', 'message'],
  ['content', '550 Message refused', 'rejected', 'provider_error', 'message'],
  // what outweighs a code that denies the mailbox
  [
    'rcpt',
    '550 5.1.1 <ada@example.com> 203.0.113.9 has sent to too many recipients this hour',
    'retry',
    'provider_rate_limited',
    'account',
  ],
  ['rcpt', '550 5.1.1 Rejected by policy', ...BLOCKED],
  ['content', '550 5.1.1 Blocked: see https://www.spamhaus.org/query/ip/203.0.113.9', ...LISTED],
  ['rcpt', '550 5.1.1 DNS failure', 'rejected', 'recipient_unreachable', 'recipient'],
  // faults of the sender, the account or the provider
  [
    'mail',
    '550 5.7.60 Client does not have permissions to send as this sender',
    'rejected',
    'invalid_sender',
    'account',
  ],
  [
    'content',
    '554 5.2.252 SendAsDenied; not allowed to send as this address',
    'rejected',
    'invalid_sender',
    'account',
  ],
  ['mail', '550 5.7.606 Access denied, banned sending IP [203.0.113.9]', ...LISTED],
  ['rcpt', '550 5.7.649 Refused', ...LISTED],
  ['content', '550 5.4.6 Unusual sending activity', 'retry', 'provider_rate_limited', 'account'],
  ['content', '550 5.4.6 Routing loop detected', 'rejected', 'recipient_unreachable', 'recipient'],
  ['content', '550 5.7.501 Access denied, spam abuse detected', 'rejected', 'provider_suspended', 'account'],
  ['mail', '550 5.7.708 Refused', 'rejected', 'provider_suspended', 'account'],
  ['rcpt', '550 Your account has been disabled', 'rejected', 'provider_suspended', 'account'],
  ['content', '554 Relay access denied', 'rejected', 'provider_auth_failed', 'account'],
  ['rcpt', '454 4.7.1 Relay access denied', 'retry', 'provider_auth_failed', 'account'],
  [
    'content',
    '554 Message rejected: Email address is not verified. The following identities failed the check in region EU-CENTRAL-1: no-reply@example.org',
    'rejected',
    'invalid_sender',
    'account',
  ],
  [
    'content',
    '554 Message rejected: Email address is not verified. The following identities failed the check in region EU-CENTRAL-1: ada@example.com',
    ...BLOCKED,
  ],
  // what is the recipient's after the content, too
  ['content', '550 No such user', ...UNKNOWN],
  ['content', '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable', ...UNKNOWN],
  ['content', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', ...UNKNOWN],
  // no enhanced codes, but addresses of hosts
  ['rcpt', '550 Refused, see 5.7.9.1', ...BLOCKED],
  ['rcpt', '550 Host 10.5.7.9 unknown', ...BLOCKED],
  // no enhanced codes, but versions, or of another class than the reply (RFC 2034 4)
  ['content', '550 Refused by Mailer 5.1.1', 'rejected', 'provider_error', 'message'],
  ['content', '550 Refused by mailer-5.1.1', 'rejected', 'provider_error', 'message'],
  ['content', '450 Gateway 5.1.1 is busy', 'retry', 'provider_unavailable', 'provider'],
  ['content', '450 5.1.1 Try again', 'retry', 'provider_unavailable', 'provider'],
  ['content', '550 5.1.1rc2 of the filter refused it', 'rejected', 'provider_error', 'message'],
  // enhanced codes where some servers put them
  ['content', '550 Sorry, no mailbox here by that name. (#5.1.1)', ...UNKNOWN],
  ['content', '550 Refused by mx.example: 550 5.1.1 User unknown', ...UNKNOWN],
  ['content', '550 No mailbox [5.1.1]', ...UNKNOWN],
  // multi-line
  ['content', '550-Mailer 5.7.20 says:\r\n550 5.1.1 User unknown', ...UNKNOWN],
  [
    'content',
    '550-5.7.1 Our system has detected that this message is\r\n550 5.7.1 likely unsolicited spam.',
    'rejected',
    'spam_detected',
    'message',
  ],
]

describe('a reply of the mail server', () => {
  for (const [moment, reply, kind, code, scope, retryAfterMs] of ROWS) {
    it(`at ${moment}: ${reply.replace('\r\n', ' / ')} → ${kind} ${code}`, async () => {
      const outcome = await smtpProvider.outcomeOf({ [moment]: reply })
      expect(outcome).toMatchObject({
        kind,
        code,
        scope,
        providerCode: expect.stringMatching(`^${reply.slice(0, 3)}`),
        message: expect.stringContaining(reply.split('\r\n').at(-1)?.slice(10) ?? ''),
      })
      expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toBe(retryAfterMs)
    })
  }

  it.each([
    ['550 5.1.1 User unknown', 'recipient_unreachable'],
    ['550 5.1.1 <bob@example.com>: User unknown', 'recipient_unreachable'],
    ['550 5.1.1 <ada@example.com> or <bob@example.com>: User unknown', 'recipient_unreachable'],
    ['550 5.1.1 <Ada@Example.com>: User unknown', 'invalid_recipient'],
  ])('to the content of a mail with copies suppresses whom it names: %s', async (reply, code) => {
    const email = { cc: [{ name: '', address: 'bob@example.com' }] }
    smtpProvider.server.play({ content: reply })
    const outcome = await smtpProvider.provider.send(mailMessage({ email }), sendContext())
    expect(outcome).toMatchObject({ kind: 'rejected', code, scope: 'recipient' })
  })

  it('keeps both codes unchanged', async () => {
    expect(await smtpProvider.outcomeOf({ rcpt: '550 5.1.1 User unknown' })).toMatchObject({
      providerCode: '550 5.1.1',
    })
    expect(await smtpProvider.outcomeOf({ rcpt: '550 User unknown' })).toMatchObject({ providerCode: '550' })
  })

  it('that is invalid is a retry before the content and ambiguous after it', async () => {
    for (const script of [
      { greeting: 'SSH-2.0-OpenSSH_9.6' },
      { mail: '354 Go on' },
      { rcpt: '354 Go on' },
      { rcpt: 'what?' },
      { data: 'what?' },
    ]) {
      expect(await smtpProvider.outcomeOf(script)).toMatchObject({
        kind: 'retry',
        code: 'provider_unavailable',
        scope: 'provider',
      })
    }
    expect(await smtpProvider.outcomeOf({ content: 'what?' })).toMatchObject({ kind: 'ambiguous' })
    expect(await smtpProvider.outcomeOf({ content: '354 Go on' })).toMatchObject({ kind: 'ambiguous' })
  })

  it('leaves the connection usable for the next mail', async () => {
    const before = smtpProvider.server.connections
    for (const reply of [
      '550 5.1.1 User unknown',
      '451 4.7.1 Greylisted',
      '552 5.2.2 Full',
      '554 5.7.1 Spam',
    ]) {
      expect(await smtpProvider.outcomeOf({ rcpt: reply })).toMatchObject({ providerCode: reply.slice(0, 9) })
      expect(await smtpProvider.outcomeOf({})).toMatchObject({ kind: 'accepted' })
    }
    // The next mail does not wait for a connection that is still being reset.
    expect(smtpProvider.server.connections - before).toBeLessThanOrEqual(2)
  })
})
