import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { credential } from '../kit/http/provider-options.ts'
import { dedupeKey, malformed, unproven } from '../kit/http/receipt-request.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { incomingText } from '../kit/sms/incoming-text.ts'
import { twilioErrorCode } from './errors.ts'
import { isSignedByTwilio } from './signature.ts'

/** Query parameter with the notification's id in the address for a message's reports. */
export const OUR_ID = 'carillon_id'

/** Twilio expects instructions after an incoming message. There are none. */
const ANSWER = { contentType: 'text/xml', body: '<Response/>' } as const
/** The message is in transit, which is not reported. */
const UNDER_WAY: ReadonlySet<string> = new Set(['accepted', 'scheduled', 'queued', 'sending'])

/** Verification of Twilio's reports. */
export interface TwilioReceiptOptions {
  /**
   * The auth token that signs reports; several during a rotation.
   *
   * @default the `authToken`
   */
  readonly secret?: string | readonly string[] | undefined
  /**
   * Public address of this provider's receipts without a query, `https://…/receipts/sms/twilio` or
   * `…/receipts/whatsapp/twilio`, where Twilio reports each message.
   *
   * @default none: messages request no report, and signatures are checked against the called address
   */
  readonly url?: string | undefined
}

interface CallbackOptions {
  readonly secret?: readonly string[] | undefined
  readonly url?: string | undefined
}

export interface ResolvedCallbackOptions extends CallbackOptions {
  readonly secret: readonly string[]
}

export const receiptOptions: z.ZodType<CallbackOptions> = z.strictObject({
  secret: oneOrSeveral(credential).optional(),
  url: z
    .string()
    .refine((url) => URL.canParse(url) && !/[?#]/.test(url), 'must be a URL without query and fragment')
    .optional(),
})

/**
 * Reads status callbacks and incoming messages.
 *
 * @param scheme prefix of the channel's addresses; a messaging service posts the messages of all channels to one
 *   address
 */
export function twilioReceipts(
  options: ResolvedCallbackOptions,
  scheme: '' | 'whatsapp:',
): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const url = options.url === undefined ? request.url : options.url + queryOf(request.url)
    if (!isSignedByTwilio(request, url, options.secret))
      return unproven('The signature of the report is invalid.')
    const read = reader(request)
    if (read === null) return malformed('The body is neither a form nor JSON.')
    const receipt = isIncoming(read) ? incoming(read, scheme) : status(read, url)
    return { kind: 'receipts', receipts: receipt === null ? [] : [receipt], answer: ANSWER }
  }
}

type Read = (name: string) => string | undefined

function reader({ headers, body }: ReceiptRequest): Read | null {
  const text = new TextDecoder().decode(body)
  if (!(headers['content-type'] ?? '').includes('json')) {
    const form = new URLSearchParams(text)
    return (name) => form.get(name) || undefined
  }
  try {
    const fields = new Map(Object.entries(JSON.parse(text) as object))
    return (name) => {
      const value: unknown = fields.get(name)
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
    }
  } catch {
    return null
  }
}

function isIncoming(read: Read): boolean {
  return (
    read('MessageStatus') === undefined && (read('Body') !== undefined || read('SmsStatus') === 'received')
  )
}

/** An incoming message of the channel. Null: of another one, or without a text. */
function incoming(read: Read, scheme: string): Receipt | null {
  const from = read('From')
  if (from === undefined || !from.startsWith(scheme)) return null
  const address = from.slice(scheme.length)
  if (address.includes(':')) return null
  return incomingText({
    id: read('MessageSid'),
    from: address,
    to: read('To')?.slice(scheme.length),
    text: read('Body') ?? '',
    // Set if Twilio's Advanced Opt-Out, with custom keywords, recognized the message.
    meaning: read('OptOutType')?.toLowerCase(),
  })
}

function status(read: Read, url: string): Receipt | null {
  const providerMessageId = read('MessageSid') ?? read('SmsSid')
  const state = read('MessageStatus') ?? read('SmsStatus')
  if (providerMessageId === undefined || state === undefined || UNDER_WAY.has(state)) return null
  const providerCode = read('ErrorCode')
  const about = {
    dedupeKey: dedupeKey(providerMessageId, state),
    notificationId: new URLSearchParams(queryOf(url)).get(OUR_ID) ?? undefined,
  }
  switch (state) {
    case 'sent':
    case 'delivered':
      return { ...about, fact: { type: state, providerMessageId } }
    case 'read':
      return { ...about, fact: { type: 'opened', providerMessageId } }
    case 'undelivered':
    case 'failed':
    case 'canceled': {
      const code = twilioErrorCode(providerCode)
      return {
        ...about,
        fact: {
          type: 'undelivered',
          providerMessageId,
          code,
          message: read('ErrorMessage')?.slice(0, 500),
          providerCode: providerCode ?? state,
        },
        ...(code === 'unsubscribed' ? { suppress: { reason: 'stop' as const } } : {}),
      }
    }
    default:
      return { ...about, fact: { type: 'reported', providerMessageId, providerCode: state } }
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
