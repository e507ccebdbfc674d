import * as z from 'zod'
import type { Fact, FactType } from '../../../src/core/notification/facts.ts'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { credential } from '../kit/http/provider-options.ts'
import { dedupeKey, formBody, jsonBody, malformed, timeOf, unproven } from '../kit/http/receipt-request.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { incomingText } from '../kit/sms/incoming-text.ts'
import { vonageReceiptCode } from './errors.ts'
import { faultOf, SIGNATURE_METHODS, type SignatureMethod, type SignatureOptions } from './signature.ts'

/** Verification of Vonage's reports. */
export interface VonageReceiptOptions {
  /** The account's signature secret; several during a rotation. */
  readonly secret: string | readonly string[]
  /**
   * The account's signature method, if reports carry a field `sig` instead of a token: `md5hash`, or the HMAC with
   * `md5`, `sha1`, `sha256` or `sha512`.
   *
   * @default none: only tokens (JWT with HS256 and the body's hash) are accepted as proof
   */
  readonly method?: SignatureMethod | undefined
  /**
   * Public address of this provider's receipts, `https://…/receipts/sms/vonage`.
   *
   * @default the account's own
   */
  readonly url?: string | undefined
}

interface CallbackOptions extends Omit<SignatureOptions, 'apiKey'> {
  readonly url?: string | undefined
}

export const receiptOptions: z.ZodType<CallbackOptions> = z.strictObject({
  secret: oneOrSeveral(credential),
  method: z.enum(SIGNATURE_METHODS).optional(),
  url: z.url('must be an address').optional(),
})

type Fields = Readonly<Record<string, string>>

/** States of the SMS API and the Messages API. Null: no news. */
const STATES: Readonly<Record<string, FactType | null>> = {
  accepted: null,
  buffered: null,
  submitted: null,
  delivered: 'delivered',
  read: 'opened',
  expired: 'undelivered',
  failed: 'undelivered',
  rejected: 'undelivered',
  undeliverable: 'undelivered',
}

/** Reads delivery receipts and incoming messages in the formats of the SMS API and the Messages API. */
export function vonageReceipts(
  proof: SignatureOptions,
): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const fields = fieldsOf(request)
    const fault = faultOf(request, fields ?? {}, proof)
    if (fault !== null) return unproven(fault)
    if (fields === null) return malformed('The body is neither a form nor a JSON object.')
    const receipt = fields.status === undefined ? incoming(fields) : status(fields)
    return { kind: 'receipts', receipts: receipt === null ? [] : [receipt] }
  }
}

/** The fields of a form, or the texts of a JSON object and its inner `error`. */
function fieldsOf(request: ReceiptRequest): Fields | null {
  if (!(request.headers['content-type'] ?? '').includes('json')) {
    const form = formBody(request)
    return form === null ? null : Object.fromEntries(form)
  }
  const parsed = jsonBody(request)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
  const { error, ...top } = parsed as Readonly<Record<string, unknown>>
  const inner = typeof error === 'object' && error !== null ? Object.entries(error) : []
  return Object.fromEntries(
    [...Object.entries(top), ...inner.map(([name, value]) => [`error.${name}`, value] as const)].flatMap(
      ([name, value]) =>
        typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
    ),
  )
}

function status(fields: Fields): Receipt | null {
  const state = fields.status ?? ''
  const providerMessageId = fields.messageId ?? fields.message_uuid
  const ours = fields['client-ref'] ?? fields.client_ref
  const notificationId = ours?.startsWith('notif_') === true ? ours : undefined
  const type = Object.hasOwn(STATES, state) ? (STATES[state] ?? null) : 'reported'
  if (type === null || (providerMessageId === undefined && notificationId === undefined)) return null
  const reason = reasonOf(fields, type)
  return {
    // Each segment of a long text has a receipt with its own id.
    dedupeKey: dedupeKey(providerMessageId, state, fields['err-code']),
    notificationId,
    fact: { type, providerMessageId, ...reason, occurredAt: occurredAt(fields) },
    ...(reason.code === 'unsubscribed' ? { suppress: { reason: 'stop' as const } } : {}),
  }
}

function reasonOf(fields: Fields, type: FactType): Partial<Fact> {
  const state = fields.status ?? ''
  const message = fields['error.detail'] ?? fields['error.title']
  if (type === 'reported') return { providerCode: codeOf(fields, state), message }
  if (type !== 'undelivered') return {}
  const code =
    state === 'expired' ? 'expired' : vonageReceiptCode(fields['err-code'] ?? fields['error.title'])
  return { code, providerCode: codeOf(fields, state), message }
}

/** The SMS API's times are UTC without a marker. */
function occurredAt(fields: Fields): number | undefined {
  const text = fields['message-timestamp'] ?? fields.timestamp
  return timeOf(text === undefined ? undefined : text.replace(/^(\d{4}-\d\d-\d\d) ([\d:]+)$/, '$1T$2Z'))
}

/** Vonage's own terms: the state, with its code if present. */
function codeOf(fields: Fields, state: string): string {
  const code = fields['err-code'] ?? fields['error.title']
  return code === undefined ? state : `${state} ${code}`
}

/** An incoming message. Null: without a number or a text. */
function incoming(fields: Fields): Receipt | null {
  const from = addressOf(fields.msisdn ?? fields.from)
  if (from === null) return null
  const { to, text = '' } = fields
  return incomingText({
    id: fields.messageId ?? fields.message_uuid,
    from,
    // A short code stays one.
    to: addressOf(to) ?? to,
    text,
  })
}

/** A Vonage number in E.164 form. Null: invalid. */
function addressOf(number: string | undefined): string | null {
  if (number === undefined || !/^\+?\d{7,15}$/.test(number)) return null
  return number.startsWith('+') ? number : `+${number}`
}
