import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'
import type { MailContent } from '../kit/mail/mail-content.ts'
import { addressesIn } from '../kit/smtp/reply.ts'

/** The addresses of a mail, which a refusal may name. */
export type SesParties = Pick<MailContent, 'to' | 'from' | 'replyTo'>

const sender: Classification = ['rejected', 'invalid_sender', 'account']
const suspended: Classification = ['rejected', 'provider_suspended', 'account']
const limited: Classification = ['retry', 'provider_rate_limited', 'account']
const credentials: Classification = ['rejected', 'provider_auth_failed', 'account']
const unavailable: Classification = ['retry', 'provider_unavailable', 'provider']

/** Exceptions of SES v2, and those common to all of AWS. */
const EXCEPTIONS: Readonly<Record<string, Classification>> = {
  MailFromDomainNotVerifiedException: sender,
  AccountSuspendedException: suspended,
  NotFoundException: ['rejected', 'provider_error', 'account'],
  AccessDeniedException: credentials,
  ExpiredTokenException: credentials,
  IncompleteSignature: credentials,
  InvalidClientTokenId: credentials,
  InvalidSignatureException: credentials,
  MissingAuthenticationToken: credentials,
  NotAuthorized: credentials,
  OptInRequired: credentials,
  RequestExpired: credentials,
  SignatureDoesNotMatch: credentials,
  UnrecognizedClientException: credentials,
  ServiceUnavailable: unavailable,
  ServiceUnavailableException: unavailable,
}

/** "Maximum sending rate exceeded": a rate per second. */
const RATE_MS = 1000
/** AWS's advice once the 24-hour quota is used up. */
const QUOTA_MS = 10 * 60_000

/** The outcome of an answer to `SendEmail`. Without `parties`, no recipient is at fault. */
export function sesOutcome(answer: ProviderAnswer, parties?: SesParties): Outcome | null {
  if (answer.status < 400) {
    const id = textMember(answer.json, 'MessageId')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: id }
  }
  const name = exceptionOf(answer)
  if (name === undefined) return null
  const message = textMember(answer.json, 'message') ?? textMember(answer.json, 'Message') ?? ''
  const [classification, retryAfterMs] = classify(name, message, answer.status, parties)
  return refuse(
    answer,
    { code: name, message, retryAfterMs: answer.retryAfterMs ?? retryAfterMs },
    classification,
  )
}

/** The outcome of an answer to `GetAccount`. */
export function sesAccountOutcome(answer: ProviderAnswer): Outcome | null {
  if (answer.status !== 200) return sesOutcome(answer)
  const enabled = member(answer.json, 'SendingEnabled')
  if (enabled === true) return { kind: 'accepted' }
  const message = 'Sending is disabled for the account in this region.'
  return enabled === false ? refuse(answer, { message }, suspended) : null
}

/** The name stands in a header, or in the body after a namespace. A colon may introduce an address. */
function exceptionOf({ headers, json }: ProviderAnswer): string | undefined {
  const raw = headers['x-amzn-errortype'] ?? textMember(json, '__type') ?? textMember(json, 'code')
  const name = raw?.split(':')[0]?.split('#').at(-1)?.trim()
  return name === '' ? undefined : name
}

function classify(
  name: string,
  message: string,
  status: number,
  parties: SesParties | undefined,
): readonly [Classification, number?] {
  switch (name) {
    case 'MessageRejected':
      return [rejected(message, parties)]
    case 'BadRequestException':
      return [badRequest(message, parties)]
    // The first is version 2's own; the others are common to all of AWS.
    case 'TooManyRequestsException':
    case 'LimitExceededException':
    case 'Throttling':
    case 'ThrottlingException':
      if (/daily message quota/i.test(message)) {
        return [['retry', 'provider_quota_exceeded', 'account'], QUOTA_MS]
      }
      return /sending rate/i.test(message) ? [limited, RATE_MS] : [limited]
    default:
      // Of the account or of one configuration set.
      return [/SendingPaused/.test(name) ? suspended : (rowOf(EXCEPTIONS, name) ?? byStatus(status))]
  }
}

function rejected(message: string, parties: SesParties | undefined): Classification {
  if (/not verified/i.test(message)) {
    const [, listed = ''] = /failed the check[^:]*:(.*)/is.exec(message) ?? []
    const identities = listed.split(',').map(addressesIn)
    // In the sandbox recipients must be verified too, which must not hold up all other mails.
    return parties !== undefined &&
      identities.every(([one]) => one !== undefined && isRecipients(one, parties))
      ? ['rejected', 'blocked_recipient', 'recipient']
      : sender
  }
  return /paused|suspended/i.test(message) ? suspended : ['rejected', 'content_rejected', 'message']
}

function badRequest(message: string, parties: SesParties | undefined): Classification {
  if (/template|render/i.test(message)) return ['rejected', 'template_error', 'message']
  // A refused recipient is suppressed, so the text must name the recipient's address and not just any address.
  return parties !== undefined && addressesIn(message).some((address) => isRecipients(address, parties))
    ? ['rejected', 'invalid_recipient', 'recipient']
    : ['rejected', 'provider_error', 'message']
}

/** True: the address is the recipient's, and not also the sender's. */
function isRecipients(address: string, { to, from, replyTo }: SesParties): boolean {
  const same = (other: string) => other.toLowerCase() === address
  return same(to) && !same(from.address) && !replyTo.some((mailbox) => same(mailbox.address))
}
