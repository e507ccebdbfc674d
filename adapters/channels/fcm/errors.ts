import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  type Classification,
  member,
  type ProviderAnswer,
  type ProviderWords,
  refuse,
  textMember,
} from '../kit/http/provider-answer.ts'

const AUTH: Classification = ['rejected', 'provider_auth_failed', 'account']
const NEXT_TOKEN: Classification = ['retry', 'provider_auth_failed', 'account']
/** Apple's or a browser's service refuses the project's key. Android and our access token are not affected. */
const ELSEWHERE: Classification = ['retry', 'provider_auth_failed', 'recipient']
const CONTENT: Classification = ['rejected', 'invalid_content', 'message']
const TOKEN: Classification = ['rejected', 'invalid_device_token', 'recipient']
const OUTAGE: Classification = ['retry', 'provider_unavailable', 'provider']

/**
 * FCM's own codes: `google.firebase.fcm.v1.ErrorCode`, in the details of an error.
 *
 * A token of another project is a fault of its owner and must not pause the provider.
 */
const FCM_CODES: ReadonlyMap<string, Classification> = new Map<string, Classification>([
  ['UNREGISTERED', ['rejected', 'device_unregistered', 'recipient']],
  ['SENDER_ID_MISMATCH', ['rejected', 'topic_mismatch', 'recipient']],
  ['UNAVAILABLE', OUTAGE],
  ['INTERNAL', OUTAGE],
  ['THIRD_PARTY_AUTH_ERROR', ELSEWHERE],
  ['APNS_AUTH_ERROR', ELSEWHERE],
])

/**
 * Google's general codes (`google.rpc.Code`), for answers without an FCM code. They concern the call, not the token: a
 * wrong project must not look like thousands of invalid devices.
 */
const STATUS_CODES: ReadonlyMap<string, Classification> = new Map<string, Classification>([
  ['PERMISSION_DENIED', AUTH],
  ['NOT_FOUND', ['rejected', 'provider_error', 'account']],
  ['UNAVAILABLE', OUTAGE],
  ['INTERNAL', OUTAGE],
])

/** Google's advice for answers without a time ("Best practices when sending FCM messages at scale"). */
const RATE_LIMITED_MS = 60_000
// "Message is too large. The maximum is 4K (4096 bytes)."; earlier "Android message is too big".
const TOO_LARGE = /too (?:big|large)/i
const ABOUT_TOKEN = /registration token/i
const ABOUT_CONTENT = /payload|data|package|ttl|priority|topic|condition|image|collapse/i

/**
 * @param token the access token, removed from every outcome; it is longer than the kept part of a text
 * @param renewed true: the next message uses another access token than the refused one
 * @returns null for an answer that is not FCM's
 */
export function fcmOutcome(answer: ProviderAnswer, token: string, renewed: boolean): Outcome | null {
  const name = textMember(answer.json, 'name')
  if (answer.status === 200) return name === undefined ? null : { kind: 'accepted', providerMessageId: name }
  const error = member(answer.json, 'error')
  const status = textMember(error, 'status')
  if (status === undefined) return null
  const message = textMember(error, 'message')?.replaceAll(token, '[token]')
  const details = detailsOf(error)
  const fcmCode = fcmCodeOf(details)
  const words = { code: fcmCode ?? status, message }
  switch (fcmCode ?? status) {
    case 'INVALID_ARGUMENT':
      return refuse(answer, words, invalidArgument(message ?? '', details, fcmCode !== undefined))
    case 'QUOTA_EXCEEDED':
    case 'RESOURCE_EXHAUSTED':
      return rateLimited(answer, words, message ?? '', details)
    case 'UNAUTHENTICATED':
      return refuse(answer, words, renewed ? NEXT_TOKEN : AUTH)
  }
  const classification = fcmCode === undefined ? STATUS_CODES.get(status) : FCM_CODES.get(fcmCode)
  return refuse(answer, words, classification)
}

/** True: Google refuses the access token. Answers with an FCM code concern other credentials. */
export function refusesAccess({ status, json }: ProviderAnswer): boolean {
  return status === 401 && fcmCodeOf(detailsOf(member(json, 'error'))) === undefined
}

type Details = (type: string) => unknown

function detailsOf(error: unknown): Details {
  const all = member(error, 'details')
  const list: readonly unknown[] = Array.isArray(all) ? all : []
  return (type) => list.find((one) => textMember(one, '@type')?.endsWith(`/${type}`) === true)
}

function fcmCodeOf(details: Details): string | undefined {
  return textMember(details('google.firebase.fcm.v1.FcmError'), 'errorCode')
}

/** FCM has one code for invalid tokens and invalid content. Only a clear case may count against the token. */
function invalidArgument(message: string, details: Details, isFcmError: boolean): Classification {
  if (TOO_LARGE.test(message)) return ['rejected', 'message_too_large', 'message']
  const fields = violations(details('google.rpc.BadRequest'), 'fieldViolations', 'field')
  if (fields.length > 0) return fields.every((field) => field === 'message.token') ? TOKEN : CONTENT
  if (ABOUT_TOKEN.test(message)) return TOKEN
  return isFcmError && !ABOUT_CONTENT.test(message) ? TOKEN : CONTENT
}

/** Limits per device do not affect other devices. */
function rateLimited(
  answer: ProviderAnswer,
  words: ProviderWords,
  message: string,
  details: Details,
): Outcome {
  const failure = details('google.rpc.QuotaFailure')
  const said = [
    message,
    ...violations(failure, 'violations', 'subject'),
    ...violations(failure, 'violations', 'description'),
  ]
  const scope = said.some((text) => /device/i.test(text)) ? 'recipient' : 'account'
  return refuse(answer, { ...words, retryAfterMs: answer.retryAfterMs ?? RATE_LIMITED_MS }, [
    'retry',
    'provider_rate_limited',
    scope,
  ])
}

function violations(detail: unknown, list: string, field: string): string[] {
  const found = member(detail, list)
  if (!Array.isArray(found)) return []
  return found.map((one: unknown) => textMember(one, field) ?? '')
}
