import type { ErrorCode } from './errors/catalogue.ts'

export interface AboutProvider {
  readonly channel: string
  /** Its instance id. */
  readonly provider: string
  /** The organization that owns the instance. Null: it serves all. */
  readonly organizationId: string | null
}

/** A provider is paused after a fault of the provider or the account in this process. */
export interface ProviderPausedEvent {
  readonly event: 'provider.paused'
  readonly data: AboutProvider & {
    readonly code: ErrorCode
    /** The provider's message, for people. */
    readonly message: string
    /** Milliseconds until the next try. */
    readonly forMs: number
  }
}

/** A provider has accepted a message of this process after a pause. */
export interface ProviderResumedEvent {
  readonly event: 'provider.resumed'
  readonly data: AboutProvider
}

/** An event for listeners in its process only; webhooks do not carry it. */
export type ProviderEvent = ProviderPausedEvent | ProviderResumedEvent
