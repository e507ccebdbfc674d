import { parseRetryAfter } from '../../../src/domain/http-answer.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'
import {
  byStatus,
  type ProviderAnswer,
  refuse,
  textMember,
  type Verdict,
} from '../kit/http/provider-answer.ts'

/** Reads an answer of `POST /v3/{domain}/messages`: no codes, only words. */
export function judgeMailgun(answer: ProviderAnswer): Outcome | null {
  const message = textMember(answer.json, 'message')
  if (answer.status === 200) {
    const id = textMember(answer.json, 'id')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: bareId(id) }
  }
  if (answer.status < 400) return null
  // Refusals of the credentials are a plain word.
  const words = message ?? (answer.text.length <= 200 && !answer.text.includes('<') ? answer.text.trim() : '')
  return refuse(answer, { message: words, retryAfterMs: untilThen(words) }, verdictOf(answer.status, words))
}

/**
 * Reads the answer to a mail without sender and recipient, which cannot be sent: a key that may only send may ask nothing
 * else. That it is incomplete is said to those alone whose key and domain are right.
 */
export function judgeIncomplete(answer: ProviderAnswer): Outcome | null {
  const missing = /\b(?:from|to) parameter\b|\brequired\b|\bmissing\b/i
  return answer.status === 400 && missing.test(textMember(answer.json, 'message') ?? '')
    ? { kind: 'accepted' }
    : judgeMailgun(answer)
}

/** Message ids travel with and without their angle brackets: receipts have none. */
export function bareId(id: string): string {
  return id.replace(/^<|>$/g, '')
}

/** "… is not allowed to send: recipient limit exceeded, try again after Mon, 20 Dec 2021 20:33:21 UTC". */
function untilThen(words: string): number | undefined {
  const [, date] = /try again after (.+) UTC/i.exec(words) ?? []
  return date === undefined ? undefined : parseRetryAfter(`${date} GMT`, Date.now())
}

function verdictOf(status: number, words: string): Verdict {
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
    // As the names of parameters: as words they are in many texts.
    if (/\bfrom\b['"]? (?:parameter|address)/i.test(words)) return ['rejected', 'invalid_sender', 'account']
    if (/\bto\b['"]? (?:parameter|address)/i.test(words)) {
      return ['rejected', 'invalid_recipient', 'recipient']
    }
  }
  return byStatus(status)
}
