import type { ErrorCode } from './errors/catalogue.ts'

/**
 * Whose fault a refusal is (DESIGN.md §5).
 * `recipient` and `message`: no other provider would do better. `account` and `provider`: another one may.
 */
export type FaultScope = 'recipient' | 'message' | 'account' | 'provider'

/** What every failed outcome may carry. No secret may be in it. */
export interface FailureDetail {
  readonly code: ErrorCode
  /** A sentence for people. */
  readonly message?: string | undefined
  /** The provider's own code, raw. */
  readonly providerCode?: string | undefined
}

/** The provider has taken responsibility for the message. */
export interface Accepted {
  readonly kind: 'accepted'
  /** The provider's id for the message; correlates its receipts. */
  readonly providerMessageId?: string | undefined
  /** `delivered` only where the answer itself proves delivery (a webhook receiver's 200). Default: `sent`. */
  readonly status?: 'sent' | 'delivered' | undefined
}

/** The provider will never accept this; trying the same again is useless. */
export interface Rejected extends FailureDetail {
  readonly kind: 'rejected'
  readonly scope: FaultScope
}

/** The provider did certainly not act, and the same call can succeed later. */
export interface Retry extends FailureDetail {
  readonly kind: 'retry'
  readonly scope: FaultScope
  /** The provider's own hint, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The request left us and there is no usable answer: the provider may have acted. */
export interface Ambiguous {
  readonly kind: 'ambiguous'
  /** What the attempt met, for its log; the notification itself ends as `delivery_unknown`. Default: that code. */
  readonly code?: ErrorCode | undefined
  /** A sentence for people. */
  readonly reason: string
  readonly providerCode?: string | undefined
}

/** The four answers of a channel's `send` (DESIGN.md §5). */
export type Outcome = Accepted | Rejected | Retry | Ambiguous
