import { createHmac } from 'node:crypto'
import * as z from 'zod'
import type { Fact } from '../../../src/core/notification/facts.ts'
import type {
  ConfirmedReceipts,
  ParsedReceipts,
  Receipt,
  ReceiptRequest,
} from '../../../src/core/ports/receipts.ts'
import { member, textMember } from '../kit/http/provider-answer.ts'
import { credential } from '../kit/http/provider-options.ts'
import { dedupeKey, jsonBody, malformed, sameText, timeOf, unproven } from '../kit/http/receipt-request.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { incomingText } from '../kit/sms/incoming-text.ts'
import { whatsappErrorCode, whatsappWords } from './errors.ts'

/** Verification of Meta's reports. */
export interface WhatsAppReceiptOptions {
  /** The Meta app's secret, which signs reports; several during a rotation. */
  readonly secret: string | readonly string[]
  /** A text of your choice for the app's webhook configuration, by which Meta verifies the address. */
  readonly verifyToken: string
}

export interface WhatsAppProof {
  readonly secret: readonly string[]
  readonly verifyToken: string
}

export const receiptOptions: z.ZodType<WhatsAppProof> = z.strictObject({
  secret: oneOrSeveral(credential),
  verifyToken: credential,
})

const CHALLENGE = /^[\w.~-]{1,256}$/

/** Answers Meta's verification request for a webhook address. */
export function confirmWhatsApp({
  verifyToken,
}: WhatsAppProof): (request: ReceiptRequest) => ConfirmedReceipts | null {
  return ({ url }) => {
    const query = new URL(url).searchParams
    const challenge = query.get('hub.challenge') ?? ''
    const isOurs = sameText(query.get('hub.verify_token') ?? '', verifyToken)
    if (!isOurs || query.get('hub.mode') !== 'subscribe' || !CHALLENGE.test(challenge)) return null
    return { contentType: 'text/plain; charset=utf-8', body: challenge }
  }
}

/**
 * Reads reports on messages, and incoming messages.
 *
 * @param numbers phone number ids of the provider. Meta posts the messages to all numbers of an app to one address;
 *   those to others are not the provider's
 */
export function whatsappReceipts(
  { secret }: WhatsAppProof,
  numbers: ReadonlySet<string>,
): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const given = request.headers['x-hub-signature-256'] ?? ''
    const sign = (key: string) => `sha256=${createHmac('sha256', key).update(request.body).digest('hex')}`
    if (!secret.some((key) => sameText(given, sign(key)))) {
      return unproven('The signature of the report is invalid.')
    }
    const body = jsonBody(request)
    if (!Array.isArray(member(body, 'entry'))) return malformed('The body is not a Meta report.')
    const values = listIn(body, 'entry').flatMap((entry) =>
      listIn(entry, 'changes').map((change) => member(change, 'value')),
    )
    const receipts = values.flatMap((value) => [
      ...listIn(value, 'statuses').flatMap(receiptOf),
      ...incomingIn(value, numbers),
    ])
    return { kind: 'receipts', receipts }
  }
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name)
  return Array.isArray(found) ? found : []
}

/** The texts in a change. */
function incomingIn(value: unknown, numbers: ReadonlySet<string>): readonly Receipt[] {
  const metadata = member(value, 'metadata')
  if (!numbers.has(textMember(metadata, 'phone_number_id') ?? '')) return []
  const to = numberOf(textMember(metadata, 'display_phone_number'))
  return listIn(value, 'messages').flatMap((message) => {
    const from = numberOf(textMember(message, 'from'))
    if (from === undefined) return []
    return incomingText({ id: textMember(message, 'id'), from, to, text: textOf(message) }) ?? []
  })
}

/** A text as written, the label of a pressed button or chosen row, or the caption of a medium. */
function textOf(message: unknown): string {
  const content = member(message, textMember(message, 'type') ?? '')
  const chosen = member(content, textMember(content, 'type') ?? '')
  return (
    textMember(content, 'body') ??
    textMember(content, 'text') ??
    textMember(content, 'caption') ??
    textMember(chosen, 'title') ??
    ''
  )
}

/** Meta's numbers have no plus sign, and some have spaces. */
function numberOf(number: string | undefined): string | undefined {
  const digits = number?.replaceAll(/\D/g, '') ?? ''
  return /^\d{7,15}$/.test(digits) ? `+${digits}` : undefined
}

function receiptOf(status: unknown): readonly Receipt[] {
  const providerMessageId = textMember(status, 'id')
  const state = textMember(status, 'status')
  if (providerMessageId === undefined || state === undefined) return []
  const fact = factOf(status, state, providerMessageId)
  return [
    {
      dedupeKey: dedupeKey(providerMessageId, state),
      notificationId: textMember(status, 'biz_opaque_callback_data'),
      fact,
      ...(fact.code === 'unsubscribed' ? { suppress: { reason: 'unsubscribe' as const } } : {}),
    },
  ]
}

function factOf(status: unknown, state: string, providerMessageId: string): Fact {
  const about = { providerMessageId, occurredAt: timeOf(Number(textMember(status, 'timestamp'))) }
  switch (state) {
    case 'sent':
    case 'delivered':
      return { ...about, type: state }
    case 'read':
      return { ...about, type: 'opened' }
    case 'failed': {
      const { code, message } = whatsappWords(listIn(status, 'errors')[0])
      return {
        ...about,
        type: 'undelivered',
        code: whatsappErrorCode(code),
        message: message?.slice(0, 500),
        providerCode: code ?? state,
      }
    }
    default:
      return { ...about, type: 'reported', providerCode: state }
  }
}
