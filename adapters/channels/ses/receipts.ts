import * as z from 'zod'
import type { ParsedReceipts, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { isFresh, jsonBody, malformed, unproven } from '../kit/http/receipt-request.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { receiptsOf } from './events.ts'
import { certificateUrl, isSigned, readSnsMessage, type SnsMessage, snsUrl } from './sns-message.ts'

/** Verification of Amazon SES's reports. */
export interface SesReceiptOptions {
  /** ARNs of the SNS topics that may report. Only subscriptions of these are confirmed. */
  readonly topics: string | readonly string[]
  /**
   * Fetches a signing certificate or the confirmation of a subscription from SNS. Must reject on failure.
   *
   * @default over HTTPS, directly
   */
  readonly get?: ((url: string) => Promise<string>) | undefined
}

interface SnsOptions {
  readonly topics: readonly string[]
  readonly get?: ((url: string) => Promise<string>) | undefined
}

interface ResolvedSnsOptions extends SnsOptions {
  readonly get: (url: string) => Promise<string>
}

const arn = z
  .string()
  .regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]{1,256}$/, 'must be the ARN of an SNS topic')

export const receiptOptions: z.ZodType<SnsOptions> = z.strictObject({
  topics: oneOrSeveral(arn),
  get: z
    .custom<(url: string) => Promise<string>>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/** 75 minutes: SNS repeats a report for an hour. */
const MAX_AGE_MS = 4_500_000
/** SNS changes its certificate about once a year and has one per region. */
const MAX_CERTIFICATES = 16
/** Certificate requests per minute: they happen before anything is proven. */
const MAX_FETCHES = 10
const MINUTE = 60_000
const NOTHING: ParsedReceipts = { kind: 'receipts', receipts: [] }
/** SNS retries after a 5xx and gives up after a 4xx. */
const AGAIN: ParsedReceipts = { kind: 'later', message: 'Amazon SNS does not answer.' }

/** Reads SES events from SNS, signed with RSA and SHA-1 or SHA-256 (signature version 1 or 2). */
export function sesReceipts(
  options: ResolvedSnsOptions,
): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  const certificateAt = certificates(options.get)

  return async (request) => {
    const message = readSnsMessage(jsonBody(request))
    if (message === null) return malformed('The body is not an Amazon SNS message.')
    // A signature proves only AWS, and anyone can have a topic. So unknown topics are refused before anything is
    // fetched.
    if (!options.topics.includes(message.TopicArn)) {
      return unproven('The report comes from a topic that is not allowed.')
    }
    const proof = await prove(message, request.receivedAt, certificateAt)
    if (proof !== null) return proof
    if (!isFresh(Date.parse(message.Timestamp), request.receivedAt, MAX_AGE_MS)) {
      return unproven('The report was signed too long ago.')
    }
    return act(message, options.get)
  }
}

/** Verifies the signature. Returns the refusal if it fails. */
async function prove(
  message: SnsMessage,
  receivedAt: number,
  certificateAt: Certificates,
): Promise<ParsedReceipts | null> {
  const url = certificateUrl(message.SigningCertURL, message.TopicArn)
  if (url === null) return unproven('The certificate does not come from Amazon SNS.')
  let certificate: string
  try {
    certificate = await certificateAt(url, receivedAt)
  } catch {
    return AGAIN
  }
  return isSigned(message, certificate) ? null : unproven('The signature of the report is invalid.')
}

function act(message: SnsMessage, get: ResolvedSnsOptions['get']): ParsedReceipts | Promise<ParsedReceipts> {
  switch (message.Type) {
    case 'Notification':
      return { kind: 'receipts', receipts: receiptsOf(message) }
    case 'SubscriptionConfirmation':
      return confirm(message, get)
    case 'UnsubscribeConfirmation':
      return NOTHING
  }
}

async function confirm(
  { SubscribeURL = '', TopicArn }: SnsMessage,
  get: ResolvedSnsOptions['get'],
): Promise<ParsedReceipts> {
  const url = snsUrl(SubscribeURL, TopicArn)
  if (url === null) return unproven('The confirmation URL does not belong to Amazon SNS.')
  try {
    await get(url)
    return NOTHING
  } catch {
    return AGAIN
  }
}

/** Rejects if there is no certificate, or after too many requests. */
type Certificates = (url: string, now: number) => Promise<string>

/** Caches certificates by address. Failures are not cached and evict nothing. */
function certificates(get: ResolvedSnsOptions['get']): Certificates {
  const known = new Map<string, string>()
  const coming = new Map<string, Promise<string>>()
  let fetches: readonly number[] = []

  async function fetch(url: string): Promise<string> {
    const certificate = await get(url)
    known.set(url, certificate)
    const [oldest] = known.keys()
    if (known.size > MAX_CERTIFICATES && oldest !== undefined) known.delete(oldest)
    return certificate
  }

  return async (url, now) => {
    const found = known.get(url) ?? coming.get(url)
    if (found !== undefined) return found
    fetches = fetches.filter((at) => Math.abs(now - at) < MINUTE)
    if (fetches.length >= MAX_FETCHES) throw new Error('Too many certificates were requested.')
    fetches = [...fetches, now]
    const fetched = fetch(url)
    coming.set(url, fetched)
    try {
      return await fetched
    } finally {
      coming.delete(url)
    }
  }
}
