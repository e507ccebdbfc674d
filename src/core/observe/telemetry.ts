import type { ErrorCode } from '../errors/catalogue.ts'
import type { EventType } from '../notification/facts.ts'
import type { Outcome } from '../notification/outcome.ts'

/** A hot verb of the storage. */
export type StorageVerb = 'accept' | 'claim' | 'start' | 'settle' | 'renew'

/** A fact about this process. Names no recipient, notification or organization. */
export type TelemetryFact =
  /** Notifications of one channel were stored, without replays. */
  | { readonly type: 'accepted'; readonly channel: string; readonly count: number }
  /** A call or item of a batch was refused. */
  | { readonly type: 'refused'; readonly operation: string; readonly code: ErrorCode; readonly count: number }
  /** A notification was not sent, because a preference turned it off. */
  | { readonly type: 'skipped'; readonly channel: string; readonly decidedBy: string }
  /** An event of a notification was published. */
  | { readonly type: 'published'; readonly event: EventType }
  /** A job was leased. `lane`: its lane, or `events` for jobs of webhook endpoints. */
  | {
      readonly type: 'claimed'
      readonly lane: string
      /** Milliseconds since the due time. */
      readonly waitedMs: number
    }
  /** A recovered job was settled. `lane`: as at its claim. */
  | { readonly type: 'recovered'; readonly lane: string }
  /** A provider was asked. */
  | {
      readonly type: 'attempt'
      readonly channel: string
      readonly provider: string
      readonly outcome: Outcome['kind']
      /** Null: the provider accepted. */
      readonly code: ErrorCode | null
      readonly durationMs: number
    }
  /**
   * An event was posted to a webhook endpoint, or handed to a listener. `status`: the class of the answer, `none`, or
   * what the listener made of it.
   */
  | {
      readonly type: 'posted'
      readonly event: string
      readonly status: '2xx' | '3xx' | '4xx' | '5xx' | 'none' | 'handled' | 'failed'
      readonly durationMs: number
    }
  /** Another process has taken a job that this one was working on. */
  | { readonly type: 'lease_lost' }
  /** The rate limiter made no decision: it allowed uncounted, or failed. */
  | { readonly type: 'unjudged'; readonly answer: 'allowed' | 'failed' }
  /** The storage answered a set, or failed. */
  | {
      readonly type: 'stored'
      readonly verb: StorageVerb
      /** Size of the set. */
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

/** The start of a span. `trace` of the parent: see `NewNotification.trace`. */
export type SpanStart =
  /** A call that accepts notifications; its parent is the caller's active span. `due`: of a record that fell due. */
  | { readonly name: 'accept'; readonly operation: 'send' | 'batch' | 'resend' | 'due' }
  /** The work on a claimed job; its parent is the accept, or none. */
  | {
      readonly name: 'deliver'
      readonly lane: string
      readonly parent: string | null
      readonly waitedMs: number
    }
  /** A provider call inside a delivery. */
  | {
      readonly name: 'attempt'
      readonly channel: string
      readonly provider: string
      readonly notificationId: string
      readonly attempt: number
    }
  /** A post to a webhook endpoint, or a hand-over to a listener. */
  | { readonly name: 'post'; readonly event: string; readonly eventId: string; readonly endpointId: string }
  /** The wait for the commit that records an outcome. */
  | { readonly name: 'settle' }

/** The data at the end of a span. */
export interface SpanEnd {
  /** An error code or class of errors. Absent: success. */
  readonly failure?: string | undefined
  readonly channel?: string | undefined
  readonly notificationId?: string | undefined
  /** Number of notifications of a batch. */
  readonly count?: number | undefined
  readonly outcome?: string | undefined
  /** HTTP status of a post. */
  readonly status?: number | undefined
}
