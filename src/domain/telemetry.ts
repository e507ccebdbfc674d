import type { ErrorCode } from './errors/catalogue.ts'
import type { EventType } from './facts.ts'
import type { Outcome } from './outcome.ts'

/** A verb of the storage that many callers share, or that delivery stands still without. */
export type StorageVerb = 'accept' | 'claim' | 'start' | 'settle' | 'renew'

/** Something that happened in this process. Nothing in it names a recipient, a notification or an organization. */
export type TelemetryFact =
  /** Notifications of one channel were stored; replays are not. */
  | { readonly type: 'accepted'; readonly channel: string; readonly count: number }
  /** A call that would have accepted was refused, or items of a batch were. */
  | { readonly type: 'refused'; readonly operation: string; readonly code: ErrorCode; readonly count: number }
  /** A transition was recorded and announced. */
  | { readonly type: 'published'; readonly event: EventType }
  /** A job was leased. `lane`: its lane, or `events` for those of webhook endpoints. */
  | {
      readonly type: 'claimed'
      readonly lane: string
      /** Since it became due. */
      readonly waitedMs: number
    }
  /** It was settled how a job goes on whose earlier attempt had ended with its process. `lane`: as it was claimed. */
  | { readonly type: 'recovered'; readonly lane: string }
  /** A provider was asked. */
  | {
      readonly type: 'attempt'
      readonly channel: string
      readonly provider: string
      readonly outcome: Outcome['kind']
      /** Null where the provider accepted. */
      readonly code: ErrorCode | null
      readonly durationMs: number
    }
  /** An event was posted to a webhook endpoint. `status`: the class of the answer, or `none`. */
  | {
      readonly type: 'posted'
      readonly event: string
      readonly status: '2xx' | '3xx' | '4xx' | '5xx' | 'none'
      readonly durationMs: number
    }
  /** Another process has a job that this one was working on. */
  | { readonly type: 'lease_lost' }
  /** The rate limiter did not judge what it was asked: it let it pass uncounted, or failed. */
  | { readonly type: 'unjudged'; readonly answer: 'allowed' | 'failed' }
  /** The storage answered a set, or did not. */
  | {
      readonly type: 'stored'
      readonly verb: StorageVerb
      /** In the set. */
      readonly items: number
      readonly durationMs: number
      readonly failed: boolean
    }
  /** A request of the REST API was answered. `route`: its operation, or `unknown`. */
  | {
      readonly type: 'request'
      readonly route: string
      readonly status: number
      readonly durationMs: number
    }

/** What begins a span. `trace` of the parent: see `NewNotification.trace`. */
export type SpanStart =
  /** A call that accepts notifications; its parent is whatever is active in the caller. */
  | { readonly name: 'accept'; readonly operation: 'send' | 'batch' | 'resend' }
  /** The work on one claimed job; its parent is the accept, or nothing. */
  | {
      readonly name: 'deliver'
      readonly lane: string
      readonly parent: string | null
      readonly waitedMs: number
    }
  /** One call of a provider, inside a delivery. */
  | {
      readonly name: 'attempt'
      readonly channel: string
      readonly provider: string
      readonly notificationId: string
      readonly attempt: number
    }
  /** One post to a webhook endpoint. */
  | { readonly name: 'post'; readonly event: string; readonly eventId: string; readonly endpointId: string }
  /** The wait for the commit that records an outcome. */
  | { readonly name: 'settle' }

/** What is known of a span when it ends. */
export interface SpanEnd {
  /** Why it failed: an error code, or a class of errors. Absent: it did not. */
  readonly failure?: string | undefined
  readonly channel?: string | undefined
  readonly notificationId?: string | undefined
  /** Notifications of a batch. */
  readonly count?: number | undefined
  readonly outcome?: string | undefined
  /** HTTP status of a post. */
  readonly status?: number | undefined
}
