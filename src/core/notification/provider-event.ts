import type { ErrorCode } from '../errors/catalogue.ts'

/** Types of events about a provider. */
export const PROVIDER_EVENT_TYPES = ['provider.paused', 'provider.resumed'] as const

export type ProviderEventType = (typeof PROVIDER_EVENT_TYPES)[number]

export interface AboutProvider {
  /** The event's own id. */
  readonly id: string
  readonly channel: string
  /** Its instance id. */
  readonly provider: string
  /** The organization that owns the instance. Null: it serves all. */
  readonly organizationId: string | null
  /** ISO 8601 UTC, by the clock of the process. */
  readonly timestamp: string
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

/** For listeners in its process. Webhooks carry it only to the organization that owns the instance. */
export type ProviderEvent = ProviderPausedEvent | ProviderResumedEvent

/** An event about an organization's own instance. */
export type OwnProviderEvent = ProviderEvent & { readonly data: { readonly organizationId: string } }

export function isOwn(event: ProviderEvent): event is OwnProviderEvent {
  return event.data.organizationId !== null
}

/**
 * The stable `webhook-id` of such an event.
 *
 * @example
 * const webhookId = providerEventId(event)
 */
export function providerEventId({ data }: OwnProviderEvent): string {
  return `evt_${data.id}`
}
