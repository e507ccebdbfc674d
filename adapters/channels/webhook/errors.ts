import type { PostResult } from '../../../src/core/channels/http-answer.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'

/** What a receiver's answer means. Every fault is the receiver's own, and so the recipient's. */
export function webhookOutcome(result: PostResult): Outcome {
  switch (result.kind) {
    case 'succeeded':
      return { kind: 'accepted', status: 'delivered' }
    case 'refused':
      return { ...result, kind: 'rejected', scope: 'recipient' }
    case 'failed': {
      const { code, message, providerCode, retryAfterMs, ambiguous } = result
      return ambiguous
        ? { kind: 'ambiguous', code, reason: message, providerCode }
        : { kind: 'retry', scope: 'recipient', code, message, providerCode, retryAfterMs }
    }
  }
}
