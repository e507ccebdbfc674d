import { TEST_EVENT_TYPE, WEBHOOK_EVENT_TYPES } from '../../../src/core/delivery/endpoint-health.ts'

/** A webhook endpoint, as the REST API shows it. */
export interface Endpoint {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  readonly disabledReason: 'gone' | 'failing' | 'manual' | null
  readonly failingSince: string | null
  readonly lastAttempt: {
    readonly event: string
    readonly succeeded: boolean
    readonly status: number | null
    readonly timestamp: string
  } | null
  readonly createdAt: string
}

export interface CreatedEndpoint extends Endpoint {
  readonly secret: string
}

/** One post to an endpoint. */
export interface Post {
  readonly succeeded: boolean
  readonly status: number | null
  readonly response: string
  readonly durationMs: number
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'held'] as const

export interface Delivery {
  readonly eventId: string
  readonly event: string
  readonly status: (typeof DELIVERY_STATUSES)[number]
  readonly payload: string
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly attempts: readonly (Post & { readonly attempt: number; readonly timestamp: string })[]
}

export const EVENTS: readonly string[] = WEBHOOK_EVENT_TYPES

/** A test event is sent once, and has a name in words. */
export function isTest({ event }: Pick<Delivery, 'event'>): boolean {
  return event === TEST_EVENT_TYPE
}
