import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { member, textMember } from '../kit/http/provider-answer.ts'
import { dedupeKey, jsonBody, malformed, sameText, unproven } from '../kit/http/receipt-request.ts'
import { oneOrSeveral, type ReceiptSecrets } from '../kit/options.ts'

/** Verification of Telegram's updates. */
export interface TelegramReceiptOptions {
  /** The `secret_token` of `setWebhook`: 8 to 256 letters, digits, `_` and `-`; several during a rotation. */
  readonly secret: string | readonly string[]
}

export const receiptOptions: z.ZodType<ReceiptSecrets> = z.strictObject({
  secret: oneOrSeveral(
    z.string().regex(/^[\w-]{8,256}$/, 'must be 8 to 256 letters, digits, underscores and hyphens'),
  ),
})

/**
 * Reads updates. The Bot API reports no deliveries, only that a person blocked or unblocked the bot. Other updates are
 * acknowledged and ignored.
 */
export function telegramUpdates({
  secret: secrets,
}: ReceiptSecrets): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const token = request.headers['x-telegram-bot-api-secret-token'] ?? ''
    if (!secrets.some((secret) => sameText(token, secret)))
      return unproven('The secret token of the update is invalid.')
    const update = jsonBody(request)
    const id = textMember(update, 'update_id')
    if (id === undefined) return malformed('The body is not a Telegram update.')
    const receipt = receiptOf(dedupeKey('update', id), member(update, 'my_chat_member'))
    return { kind: 'receipts', receipts: receipt === null ? [] : [receipt] }
  }
}

/** In a private chat the bot's membership changes only if the person blocks or unblocks it. */
function receiptOf(key: string, change: unknown): Receipt | null {
  const chat = member(change, 'chat')
  const address = textMember(chat, 'id')
  if (address === undefined || member(chat, 'type') !== 'private') return null
  switch (member(member(change, 'new_chat_member'), 'status')) {
    case 'kicked':
      return { dedupeKey: key, suppress: { address, reason: 'stop' } }
    case 'member':
      return { dedupeKey: key, unsuppress: { address } }
    default:
      return null
  }
}
