import { type HttpAnswer, type HttpResult, parseRetryAfter } from '../../../src/core/channels/http-answer.ts'
import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../src/core/notification/outcome.ts'
import type { HostClass } from './services.ts'

// FCM: "… do not correspond to the credentials used to create the subscriptions"; Mozilla: "VAPID public key mismatch";
// Apple: "VapidPkHashMismatch". The subscription belongs to another key and is invalid; our key is fine.
const OTHER_KEY = /do not correspond|key mismatch|PkHashMismatch/i

/**
 * Converts the end of a request to a push service to an outcome (RFC 8030, RFC 8292).
 *
 * Users choose the endpoint. So an endpoint's answer concerns only its subscription, or anyone could pause the provider
 * with their own endpoint. Only a known push service speaks for all its subscriptions. A host below a known one may not
 * exist, so its failure proves nothing.
 */
export function webPushOutcome(result: HttpResult, host: HostClass): Outcome {
  return result.kind === 'answered'
    ? answerOutcome(result, host !== 'elsewhere')
    : failureOutcome(result, host === 'service')
}

function answerOutcome({ status, headers, body }: HttpAnswer, known: boolean): Outcome {
  if (status >= 200 && status < 300) {
    // RFC 8030 5: the message's own address at the push service.
    return { kind: 'accepted', providerMessageId: headers.location }
  }
  const [kind, code, scope] = isOtherKey(status, headers, body)
    ? (['rejected', 'topic_mismatch', 'recipient'] as const)
    : classify(status, known)
  const detail = {
    code,
    scope,
    message: `The push service answered ${status}: ${body.replace(/\s+/g, ' ').trim()}`,
    providerCode: String(status),
  }
  return kind === 'rejected'
    ? { kind, ...detail }
    : { kind, ...detail, retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()) }
}

type StatusClassification = readonly [kind: 'rejected' | 'retry', code: ErrorCode, scope: FaultScope]

/** True: the subscription was made with another key. */
function isOtherKey(status: number, headers: Readonly<Record<string, string>>, body: string): boolean {
  if (![400, 401, 403].includes(status)) return false
  // Microsoft sends only 403: "not authorized to send a notification to this URI even though they are authenticated".
  const isMicrosoft = Object.keys(headers).some((name) => name.startsWith('x-wns-'))
  return OTHER_KEY.test(body) || (status === 403 && isMicrosoft)
}

function classify(status: number, known: boolean): StatusClassification {
  switch (status) {
    case 404:
    case 410:
      return ['rejected', 'device_unregistered', 'recipient']
    case 413:
      return ['rejected', 'message_too_large', 'message']
    case 400:
      return ['rejected', 'provider_error', 'message']
    case 401:
    case 403:
      return ['rejected', 'provider_auth_failed', known ? 'account' : 'recipient']
    // RFC 8030 8.4: a limit "for push message delivery to a push resource", which is one subscription.
    case 429:
    // Microsoft's throttling, for a subscription or the application. Other browsers' services are unaffected.
    case 406:
      return ['retry', 'provider_rate_limited', 'recipient']
    case 408:
    case 425:
      return ['retry', 'provider_unavailable', 'recipient']
  }
  if (status >= 500) return ['retry', 'provider_unavailable', known ? 'provider' : 'recipient']
  // Redirects are not followed.
  return ['rejected', 'provider_error', 'recipient']
}

function failureOutcome(result: Exclude<HttpResult, HttpAnswer>, known: boolean): Outcome {
  const { reason, requestSent, message } = result
  if (reason === 'blocked') {
    return { kind: 'rejected', code: 'blocked_address', scope: 'recipient', message, providerCode: reason }
  }
  return requestSent
    ? { kind: 'ambiguous', code: 'provider_unavailable', reason: message, providerCode: reason }
    : {
        kind: 'retry',
        code: 'provider_unavailable',
        scope: known ? 'provider' : 'recipient',
        message,
        providerCode: reason,
      }
}
