import { parseRetryAfter } from '../../../src/core/channels/http-answer.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  type ProviderAnswer,
  refuse,
  textMember,
} from '../kit/http/provider-answer.ts'

/** The outcome of an answer to `POST /v3/{domain}/messages`, which has no codes, only text. */
export function mailgunOutcome(answer: ProviderAnswer): Outcome | null {
  const message = textMember(answer.json, 'message')
  if (answer.status === 200) {
    const id = textMember(answer.json, 'id')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: bareId(id) }
  }
  if (answer.status < 400) return null
  // Refused credentials answer with plain text.
  const words = message ?? (answer.text.length <= 200 && !answer.text.includes('<') ? answer.text.trim() : '')
  return refuse(answer, { message: words, retryAfterMs: untilThen(words) }, classify(answer.status, words))
}

/**
 * The outcome of the answer to a mail without sender and recipient. Sending keys may call nothing else, and only a
 * valid key and domain get the error for missing fields.
 */
export function incompleteOutcome(answer: ProviderAnswer): Outcome | null {
  const missing = /\b(?:from|to) parameter\b|\brequired\b|\bmissing\b/i
  return answer.status === 400 && missing.test(textMember(answer.json, 'message') ?? '')
    ? { kind: 'accepted' }
    : mailgunOutcome(answer)
}

/** Removes angle brackets: answers have them, receipts do not. */
export function bareId(id: string): string {
  return id.replace(/^<|>$/g, '')
}

/** "… is not allowed to send: recipient limit exceeded, try again after Mon, 20 Dec 2021 20:33:21 UTC". */
function untilThen(words: string): number | undefined {
  const [, date] = /try again after (.+) UTC/i.exec(words) ?? []
  return date === undefined ? undefined : parseRetryAfter(`${date} GMT`, Date.now())
}

function classify(status: number, words: string): Classification {
  // With 400, 420 or 429.
  if (status < 500 && /not allowed to send:.*(?:limit exceeded|too fast)/i.test(words)) {
    return ['retry', 'provider_quota_exceeded', 'account']
  }
  if (status === 400 || status === 403) {
    if (/authorized recipients|sandbox subdomains/i.test(words)) {
      return ['rejected', 'blocked_recipient', 'recipient']
    }
    if (/disabled|suspended|not allowed to send/i.test(words)) {
      return ['rejected', 'provider_suspended', 'account']
    }
    if (/unverified|requires dns/i.test(words)) return ['rejected', 'invalid_sender', 'account']
  }
  if (status === 400) {
    // Matches parameter names. The words alone are too common.
    if (/\bfrom\b['"]? (?:parameter|address)/i.test(words)) return ['rejected', 'invalid_sender', 'account']
    if (/\bto\b['"]? (?:parameter|address)/i.test(words)) {
      return ['rejected', 'invalid_recipient', 'recipient']
    }
  }
  return byStatus(status)
}
