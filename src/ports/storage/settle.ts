import type { EndpointEvent } from '../../domain/endpoint-health.ts'
import type { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { Fact } from '../../domain/facts.ts'
import type { NotificationContent } from '../../domain/notification.ts'
import type { LeaseRef } from './claim.ts'
import type { DeliveryAttempt } from './webhook-endpoints.ts'

/** The end of one leased job's attempt. */
export type Settlement = LeaseRef & {
  readonly next:
    | { readonly kind: 'end' }
    /**
     * Due again after `delayMs` of the storage's clock. `outage`: the attempt met a fault of the provider, and the job
     * counts it in `ClaimedJob.outages`; absent: it does not. `unasked`: nobody was asked to deliver it, so that a
     * recovered job stays one, and is claimable by `{ recovered }` alone when it is due; absent: it is like any other.
     */
    | {
        readonly kind: 'retry'
        readonly delayMs: number
        readonly outage?: true | undefined
        readonly unasked?: true | undefined
      }
} & (
    | {
        readonly kind: 'notification'
        /** Recorded in order. */
        readonly facts: readonly Fact[]
        /** Replaces the stored content, attachments too, in the same commit. Only where the job ends. */
        readonly content?: NotificationContent | undefined
      }
    | {
        readonly kind: 'event'
        /**
         * What happened, for the endpoint's delivery log; absent when no request was made. While the endpoint is active,
         * `judgeEndpoint` of the domain judges it by every attempt, under its row's lock and by its address then: since when
         * it fails, whether it is disabled, and what its organization's other endpoints that chose the event are told of it in
         * this commit, under `endpointEventId` and with the next `sequence` of the endpoint, which outlives the process.
         */
        readonly attempt?: DeliveryAttempt | undefined
        /**
         * Where the attempt went, or was to go: an endpoint that has another address by now is not judged by it. Default: the
         * endpoint's address.
         */
        readonly url?: string | undefined
        /** The attempt failed by our own fault, or because we stopped: the endpoint is not judged by it. */
        readonly blameless?: true | undefined
        /** The delivery's state when the job ends. Default `failed`. */
        readonly ended?: 'delivered' | 'failed' | undefined
        /**
         * Disables the endpoint: its other jobs are held, and nothing of them is lost. Those that are leased at that
         * moment go on, and are held when they come back. Events announced from then on are held too. One commit holds
         * a thousand jobs, so that it stays short; claims hold the rest as they meet them, a thousand at a time.
         */
        readonly disable?: 'gone' | undefined
      }
  )

export type SettleAnswer =
  | {
      readonly kind: 'settled'
      /** Announced in this commit, in order: for listeners in this process. */
      readonly events: readonly NotificationEvent[]
      /** The same about the endpoint; absent: none. */
      readonly endpointEvents?: readonly EndpointEvent[] | undefined
    }
  /** The lease was lost: another claim has the job. Nothing was changed. */
  | { readonly kind: 'stale' }
  /** This settlement alone could not be recorded, the others of the set were. Nothing was changed; its lease goes on. */
  | { readonly kind: 'failed'; readonly error: NotifierError }
