import type { ErrorCode } from './errors/catalogue.ts'

export interface AboutProvider {
  readonly channel: string
  /** Its instance id. */
  readonly provider: string
  /** The organization whose instance it is; null: it serves all. */
  readonly organizationId: string | null
}

/** A provider is paused after a fault of its own, or of our account with it, that this process met. */
export interface ProviderPausedEvent {
  readonly event: 'provider.paused'
  readonly data: AboutProvider & {
    readonly code: ErrorCode
    /** What the provider said, for people. */
    readonly message: string
    /** Milliseconds until it is tried again. */
    readonly forMs: number
  }
}

/** After a pause a provider has taken a message of this process: it works again. */
export interface ProviderResumedEvent {
  readonly event: 'provider.resumed'
  readonly data: AboutProvider
}

/** For listeners in the process where it happened alone: no webhook carries it. */
export type ProviderEvent = ProviderPausedEvent | ProviderResumedEvent
