import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../src/core/notification/outcome.ts'

/** The meaning of an APNs answer, for the message, the connection and the token. */
export interface ApnsVerdict {
  readonly outcome: Outcome
  /** `connection`: open a new one for the next request. `token`: APNs considers the provider token expired. */
  readonly renew?: 'connection' | 'token' | undefined
}

type Row = readonly [
  kind: 'rejected' | 'retry',
  code: ErrorCode,
  scope: FaultScope,
  more?: { readonly renew?: 'connection' | 'token'; readonly retryAfterMs?: number; readonly hint?: string },
]

const MINUTE = 60_000
const NEW_CONNECTION = { renew: 'connection' } as const
const AUTH: Row = ['rejected', 'provider_auth_failed', 'account']
/** A fault of this channel or its input, the same for every attempt. */
const CHANNEL_FAULT: Row = ['rejected', 'provider_error', 'message']

/**
 * Apple, "Handling notification responses from APNs", table "Response error strings".
 *
 * A token of another app is a fault of its owner. It must not pause the provider, or one wrong token would hold up all
 * other messages. A wrong topic affects every message.
 */
const REASONS: ReadonlyMap<string, Row> = new Map<string, Row>([
  [
    'BadDeviceToken',
    ['rejected', 'invalid_device_token', 'recipient', { hint: 'wrong, or of the other environment' }],
  ],
  ['MissingDeviceToken', ['rejected', 'invalid_device_token', 'recipient']],
  ['DeviceTokenNotForTopic', ['rejected', 'topic_mismatch', 'recipient']],
  ['ExpiredToken', ['rejected', 'invalid_device_token', 'recipient', { hint: 'expired' }]],
  ['Unregistered', ['rejected', 'device_unregistered', 'recipient']],
  ['BadTopic', ['rejected', 'topic_mismatch', 'account']],
  ['MissingTopic', ['rejected', 'topic_mismatch', 'account']],
  ['TopicDisallowed', ['rejected', 'topic_mismatch', 'account']],
  ['PayloadTooLarge', ['rejected', 'message_too_large', 'message']],
  ['PayloadEmpty', ['rejected', 'invalid_content', 'message']],
  ['BadCollapseId', CHANNEL_FAULT],
  ['BadExpirationDate', CHANNEL_FAULT],
  ['BadMessageId', CHANNEL_FAULT],
  ['BadPriority', CHANNEL_FAULT],
  ['DuplicateHeaders', CHANNEL_FAULT],
  ['InvalidPushType', CHANNEL_FAULT],
  ['BadPath', CHANNEL_FAULT],
  ['MethodNotAllowed', CHANNEL_FAULT],
  ['ExpiredProviderToken', ['retry', 'provider_auth_failed', 'account', { renew: 'token' }]],
  ['InvalidProviderToken', AUTH],
  ['MissingProviderToken', AUTH],
  ['UnrelatedKeyIdInToken', AUTH],
  ['BadEnvironmentKeyIdInToken', AUTH],
  // Observed in practice where the documentation has the name above.
  ['BadEnvironmentKeyInToken', AUTH],
  ['BadCertificate', AUTH],
  ['BadCertificateEnvironment', AUTH],
  ['Forbidden', AUTH],
  // A limit per device; other devices are not affected.
  ['TooManyRequests', ['retry', 'provider_rate_limited', 'recipient']],
  [
    'TooManyProviderTokenUpdates',
    ['retry', 'provider_rate_limited', 'account', { retryAfterMs: 5 * MINUTE, hint: 'the token is kept' }],
  ],
  ['IdleTimeout', ['retry', 'provider_unavailable', 'provider', NEW_CONNECTION]],
  ['InternalServerError', ['retry', 'provider_unavailable', 'provider', NEW_CONNECTION]],
  ['ServiceUnavailable', ['retry', 'provider_unavailable', 'provider', NEW_CONNECTION]],
  ['Shutdown', ['retry', 'provider_unavailable', 'provider', NEW_CONNECTION]],
])

/** For reasons missing from the table. */
const STATUSES: ReadonlyMap<number, Row> = new Map<number, Row>([
  [403, AUTH],
  [410, ['rejected', 'device_unregistered', 'recipient']],
  [413, ['rejected', 'message_too_large', 'message']],
  [429, ['retry', 'provider_rate_limited', 'provider']],
  [503, ['retry', 'provider_unavailable', 'provider', NEW_CONNECTION]],
])

/**
 * @param body JSON with `reason` and, for 410, `timestamp`: since when the token is invalid, epoch milliseconds
 * @param retryAfterMs value of Retry-After
 */
export function apnsOutcome(status: number, body: string, retryAfterMs: number | undefined): ApnsVerdict {
  const { reason, timestamp } = parse(body)
  const row =
    (reason === undefined ? undefined : REASONS.get(reason)) ??
    STATUSES.get(status) ??
    (status >= 400 && status < 500 ? CHANNEL_FAULT : undefined)
  const providerCode = reason ?? String(status)
  if (row === undefined) {
    const unusable = `APNs answered ${status} without a reason.`
    return { outcome: { kind: 'ambiguous', reason: unusable, providerCode }, renew: 'connection' }
  }
  const [kind, code, scope, more] = row
  const message = `APNs answered ${status} ${providerCode}${more?.hint === undefined ? '' : ` (${more.hint})`}.`
  const detail = { code, scope, message, providerCode }
  return kind === 'rejected'
    ? { outcome: { kind, ...detail, ...(timestamp === undefined ? {} : { since: timestamp }) } }
    : {
        outcome: { kind, ...detail, retryAfterMs: retryAfterMs ?? more?.retryAfterMs },
        renew: more?.renew,
      }
}

function parse(body: string): { readonly reason?: string; readonly timestamp?: number } {
  try {
    const { reason, timestamp } = Object(JSON.parse(body)) as Readonly<Record<string, unknown>>
    return {
      ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 100) } : {}),
      ...(typeof timestamp === 'number' && timestamp > 0 ? { timestamp } : {}),
    }
  } catch {
    return {}
  }
}
