import type { ErrorCode } from '../../../src/domain/errors/catalogue.ts'
import { type PostAnswer, type PostResult, parseRetryAfter } from '../../../src/domain/http-answer.ts'
import type { FaultScope, Outcome } from '../../../src/domain/outcome.ts'
import type { Place } from './services.ts'

// FCM: "… do not correspond to the credentials used to create the subscriptions"; Mozilla: "VAPID public key mismatch";
// Apple: "VapidPkHashMismatch". The subscription was made with another key than ours: it is dead, our key is not.
const OTHER_KEY = /do not correspond|key mismatch|PkHashMismatch/i

/**
 * What the end of a request to a push service means (RFC 8030, RFC 8292).
 *
 * Users choose the endpoint. Whatever an endpoint says concerns its subscription alone, or anybody could bring the
 * provider to rest with an endpoint of their own; only a push service that is known speaks for all of its subscriptions.
 * A host below one can be made up: that it cannot be reached proves nothing.
 */
export function judgeWebPush(result: PostResult, place: Place): Outcome {
  return result.kind === 'answered'
    ? judgeAnswer(result, place !== 'elsewhere')
    : judgeFailure(result, place === 'service')
}

function judgeAnswer({ status, headers, body }: PostAnswer, known: boolean): Outcome {
  if (status >= 200 && status < 300) {
    // RFC 8030 5: the message's own address at the push service.
    return { kind: 'accepted', providerMessageId: headers.location }
  }
  const [kind, code, scope] = isOtherKey(status, headers, body)
    ? (['rejected', 'topic_mismatch', 'recipient'] as const)
    : verdict(status, known)
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

type Verdict = readonly [kind: 'rejected' | 'retry', code: ErrorCode, scope: FaultScope]

/** Tells whether a subscription was made with another key than ours. */
function isOtherKey(status: number, headers: Readonly<Record<string, string>>, body: string): boolean {
  if (![400, 401, 403].includes(status)) return false
  // Microsoft says so by 403 alone: "not authorized to send a notification to this URI even though they are
  // authenticated".
  const isMicrosoft = Object.keys(headers).some((name) => name.startsWith('x-wns-'))
  return OTHER_KEY.test(body) || (status === 403 && isMicrosoft)
}

function verdict(status: number, known: boolean): Verdict {
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
    // Microsoft's word for too many, of one subscription or of the application: the other browsers' services are well.
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

function judgeFailure(result: Exclude<PostResult, PostAnswer>, known: boolean): Outcome {
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
