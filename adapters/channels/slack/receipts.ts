import { createHmac } from 'node:crypto'
import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { member, textMember } from '../kit/http/provider-answer.ts'
import { credential } from '../kit/http/provider-options.ts'
import {
  dedupeKey,
  isFreshSeconds,
  jsonBody,
  malformed,
  sameText,
  timeOf,
  unproven,
} from '../kit/http/receipt-request.ts'
import { oneOrSeveral, type ReceiptSecrets } from '../kit/options.ts'

/** Verification of Slack's events. */
export interface SlackReceiptOptions {
  /** The app's signing secret; several during a rotation. */
  readonly secret: string | readonly string[]
}

export const receiptOptions: z.ZodType<ReceiptSecrets> = z.strictObject({ secret: oneOrSeveral(credential) })

/** Slack's recommendation. Every repetition has a new signature. */
const MAX_AGE_MS = 5 * 60_000

/**
 * Reads the Events API. Slack reports no deliveries, only reactions to and deletions of a message. Other events are
 * acknowledged and ignored.
 */
export function slackEvents({
  secret: secrets,
}: ReceiptSecrets): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const fault = faultOf(request, secrets)
    if (fault !== null) return unproven(fault)
    const body = jsonBody(request)
    switch (textMember(body, 'type')) {
      case 'url_verification': {
        const challenge = textMember(body, 'challenge')
        if (challenge === undefined) return malformed('The URL verification has no challenge.')
        return { kind: 'receipts', receipts: [], answer: { contentType: 'text/plain', body: challenge } }
      }
      case 'event_callback':
        return { kind: 'receipts', receipts: receiptsOf(body) }
      case undefined:
        return malformed('The body is not a Slack event.')
      default:
        return { kind: 'receipts', receipts: [] }
    }
  }
}

/** Why a request is not proven to come from Slack. Null: it is proven. */
function faultOf(request: ReceiptRequest, secrets: readonly string[]): string | null {
  const { headers, body } = request
  const timestamp = headers['x-slack-request-timestamp'] ?? ''
  const signature = headers['x-slack-signature'] ?? ''
  const signed = Buffer.concat([Buffer.from(`v0:${timestamp}:`, 'utf8'), body])
  const expected = (secret: string) => `v0=${createHmac('sha256', secret).update(signed).digest('hex')}`
  if (!secrets.some((secret) => sameText(signature, expected(secret)))) {
    return 'The signature of the event is invalid.'
  }
  return isFreshSeconds(timestamp, request, MAX_AGE_MS) ? null : 'The event was signed too long ago.'
}

function receiptsOf(body: unknown): readonly Receipt[] {
  const event = member(body, 'event')
  const message = messageOf(event)
  if (message === null) return []
  return [
    {
      dedupeKey: dedupeKey(textMember(body, 'event_id') ?? `${message.id}|${message.what}`),
      fact: {
        type: 'reported',
        providerMessageId: message.id,
        providerCode: message.what,
        occurredAt: timeOf(member(body, 'event_time')),
      },
    },
  ]
}

/** The message that an event concerns, and the kind of event. */
function messageOf(event: unknown): { readonly id: string; readonly what: string } | null {
  const type = textMember(event, 'type')
  if (type === 'reaction_added') {
    const item = member(event, 'item')
    return placed(textMember(item, 'channel'), textMember(item, 'ts'), type)
  }
  const subtype = textMember(event, 'subtype')
  if (type === 'message' && subtype === 'message_deleted') {
    return placed(textMember(event, 'channel'), textMember(event, 'deleted_ts'), subtype)
  }
  return null
}

function placed(channel: string | undefined, ts: string | undefined, what: string) {
  return channel === undefined || ts === undefined ? null : { id: `${channel}:${ts}`, what }
}
