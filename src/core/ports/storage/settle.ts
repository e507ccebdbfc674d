import type { EndpointEvent } from '../../delivery/endpoint-health.ts'
import type { NotifierError } from '../../errors/notifier-error.ts'
import type { NotificationEvent } from '../../notification/event-payload.ts'
import type { Fact } from '../../notification/facts.ts'
import type { DelayedFor, NotificationContent } from '../../notification/notification.ts'
import type { OwnProviderEvent } from '../../notification/provider-event.ts'
import type { LeaseRef } from './claim.ts'
import type { DeliveryAttempt } from './webhook-endpoints.ts'

/** The end of an attempt of a leased job. */
export type Settlement = LeaseRef & {
  readonly next:
    | { readonly kind: 'end' }
    /**
     * Due again after `delayMs` of the storage's clock. `outage`: the provider was at fault, and the job counts it in
     * `ClaimedJob.outages`. `notSent`: no provider was called, so that a recovered job stays recovered and can be
     * claimed by `{ recovered }` only. `delayedFor`: the gate delays it, and `judgeAgain` finds it by this.
     */
    | {
        readonly kind: 'retry'
        readonly delayMs: number
        readonly outage?: true | undefined
        readonly notSent?: true | undefined
        readonly delayedFor?: DelayedFor | undefined
      }
} & (
    | {
        readonly kind: 'notification'
        /** In order. */
        readonly facts: readonly Fact[]
        /** Replaces the stored content and attachments in the same commit. Only if the job ends. */
        readonly content?: NotificationContent | undefined
        /**
         * What the attempt showed about the organization's own provider: published in the same commit, under
         * `providerEventId`, to the endpoints of the organization that chose it.
         */
        readonly providerEvent?: OwnProviderEvent | undefined
      }
    | {
        readonly kind: 'event'
        /**
         * For the endpoint's delivery log. Absent: no request was made. While the endpoint is active, the storage
         * applies `decideEndpoint` to every attempt, under the row's lock and with the current address.
         * That decides since when the endpoint fails, whether it is disabled, and which event about it to publish to
         * the organization's other endpoints in this commit, under `endpointEventId` and with the endpoint's next
         * `sequence`.
         */
        readonly attempt?: DeliveryAttempt | undefined
        /**
         * Address of the attempt. If the endpoint's address has changed, the attempt does not affect its health.
         * Default: the endpoint's address.
         */
        readonly url?: string | undefined
        /** The attempt failed because of this service or its stop. It does not affect the endpoint's health. */
        readonly ownFault?: true | undefined
        /** State of the delivery if the job ends. Default `failed`. */
        readonly ended?: 'delivered' | 'failed' | undefined
        /**
         * Disables the endpoint and holds its other jobs; nothing is lost. Jobs under a lease continue and are held
         * when they come back. Later events are held, too. One commit holds a thousand jobs, to stay short; claims hold
         * the rest, a thousand at a time.
         */
        readonly disable?: 'gone' | undefined
      }
  )

export type SettleAnswer =
  | {
      readonly kind: 'settled'
      /** Published in this commit, in order: emitted to listeners in this process. */
      readonly events: readonly NotificationEvent[]
      /** Events about the endpoint. Absent: none. */
      readonly endpointEvents?: readonly EndpointEvent[] | undefined
    }
  /** The lease was lost to another claim. Nothing changed. */
  | { readonly kind: 'stale' }
  /** Only this settlement failed; the others of the set are recorded. Nothing changed, and its lease continues. */
  | { readonly kind: 'failed'; readonly error: NotifierError }
