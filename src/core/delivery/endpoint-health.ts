import { EVENT_TYPES, type EventType } from '../notification/facts.ts'
import { PROVIDER_EVENT_TYPES, type ProviderEventType } from '../notification/provider-event.ts'
import type { MessageReceivedEvent } from '../notification/received-message.ts'

/** Types of events about a webhook endpoint itself, sent to endpoints that chose them. */
export const ENDPOINT_EVENT_TYPES = ['webhook.failing', 'webhook.disabled'] as const

export type EndpointEventType = (typeof ENDPOINT_EVENT_TYPES)[number]

/** All event types that a webhook endpoint can choose. */
export type WebhookEventType =
  | EventType
  | MessageReceivedEvent['event']
  | EndpointEventType
  | ProviderEventType

export const WEBHOOK_EVENT_TYPES: readonly WebhookEventType[] = [
  ...EVENT_TYPES,
  'message.received',
  ...ENDPOINT_EVENT_TYPES,
  ...PROVIDER_EVENT_TYPES,
]

/** The type of test events. No endpoint can choose it. */
export const TEST_EVENT_TYPE = 'webhook.test' as const

/** The types of events in the delivery log of an endpoint. */
export type LoggedEventType = WebhookEventType | typeof TEST_EVENT_TYPE

/** Failed attempts on one event after which its endpoint counts as failing. */
const FAILING_ATTEMPTS = 4

/** Time without a success after which an endpoint is disabled. */
export const DISABLED_AFTER_MS: number = 5 * 24 * 60 * 60_000

/** The stored health of a webhook endpoint. */
export interface EndpointHealth {
  /** First failed attempt since the last success, in epoch milliseconds. Null: the last attempt succeeded. */
  readonly failingSince: number | null
  /** True: `webhook.failing` has been published since then. */
  readonly failingPublished: boolean
  /** The `sequence` of the last event about the endpoint. */
  readonly sequence: number
}

/** Before the first attempt. */
export const NEW_HEALTH: EndpointHealth = { failingSince: null, failingPublished: false, sequence: 0 }

/**
 * After a success, a new address or a manual enable. The sequence continues.
 *
 * @example
 * const health = healed({ failingSince: 1767225600000, failingPublished: true, sequence: 3 })
 */
export function healed({ sequence }: EndpointHealth): EndpointHealth {
  return { ...NEW_HEALTH, sequence }
}

/** The result of an attempt in a settlement. */
export interface EndpointAttempt {
  /** Absent: no request was made; the endpoint's state is unknown. */
  readonly attempt?:
    | {
        readonly attempt: number
        readonly succeeded: boolean
      }
    | undefined
  /** Address of the attempt. Default: the endpoint's address. */
  readonly url?: string | undefined
  /** `end`: the delivery has no further attempt. */
  readonly next: { readonly kind: 'end' | 'retry' }
  /** It failed because of this service or its stop, not because of the endpoint. */
  readonly ownFault?: true | undefined
  /** The endpoint answered 410. */
  readonly disable?: 'gone' | undefined
}

export interface EndpointDecision {
  readonly health: EndpointHealth
  /** The reason to disable the endpoint. Null: keep it. */
  readonly disable: 'gone' | 'failing' | null
  readonly eventType: EndpointEventType | null
}

/**
 * Decides the health of an active endpoint after an attempt. Every storage calls this function under the endpoint's row
 * lock, so that processes agree, nothing is published twice, and events have consecutive numbers. An endpoint is
 * disabled as `failing` only when a delivery ends, so that two faults with quiet days between them do not disable it.
 *
 * @param now the storage's time in epoch milliseconds
 * @param url the current address: an attempt at an older one does not count
 *
 * @example
 * const { health: next, disable } = decideEndpoint(health, attempt, now, endpoint.url)
 */
export function decideEndpoint(
  health: EndpointHealth,
  { attempt, url: to, next, ownFault, disable }: EndpointAttempt,
  now: number,
  url: string,
): EndpointDecision {
  if (to !== undefined && to !== url) return { health, disable: null, eventType: null }
  const failingSince = health.failingSince ?? now
  if (disable === 'gone') return disabled(health, failingSince, 'gone')
  if (attempt?.succeeded === true) return { health: healed(health), disable: null, eventType: null }
  if (attempt === undefined || ownFault === true) return { health, disable: null, eventType: null }
  if (next.kind === 'end' && now - failingSince >= DISABLED_AFTER_MS)
    return disabled(health, failingSince, 'failing')
  const tell = !health.failingPublished && attempt.attempt >= FAILING_ATTEMPTS
  return {
    health: {
      failingSince,
      failingPublished: health.failingPublished || tell,
      sequence: health.sequence + (tell ? 1 : 0),
    },
    disable: null,
    eventType: tell ? 'webhook.failing' : null,
  }
}

function disabled(
  { sequence }: EndpointHealth,
  failingSince: number,
  disable: 'gone' | 'failing',
): EndpointDecision {
  const health = { failingSince, failingPublished: true, sequence: sequence + 1 }
  return { health, disable, eventType: 'webhook.disabled' }
}

/** An event about a webhook endpoint. It omits the address, which may contain a secret. */
export interface EndpointEvent {
  readonly event: EndpointEventType
  readonly data: {
    /** The endpoint's id. */
    readonly id: string
    /** Status after the event. */
    readonly status: 'active' | 'disabled'
    /** Reason for disabling. Null: not disabled. */
    readonly reason: 'gone' | 'failing' | null
    /** Start of the series of failures, ISO 8601 UTC. */
    readonly failingSince: string
    /** Time of recording, ISO 8601 UTC. */
    readonly timestamp: string
    /** 1, 2, 3… over all events about this endpoint: orders events that arrive out of order. */
    readonly sequence: number
    readonly organizationId: string
  }
}

/**
 * The event of a decision. Null: none.
 *
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const decision = decideEndpoint(health, attempt, now, endpoint.url)
 * const event = endpointEvent(endpoint, decision, now)
 */
export function endpointEvent(
  endpoint: { readonly id: string; readonly organizationId: string },
  { health, disable, eventType }: EndpointDecision,
  now: number,
): EndpointEvent | null {
  if (eventType === null) return null
  const timestamp = new Date(now).toISOString()
  return {
    event: eventType,
    data: {
      id: endpoint.id,
      status: disable === null ? 'active' : 'disabled',
      reason: disable,
      failingSince: health.failingSince === null ? timestamp : new Date(health.failingSince).toISOString(),
      timestamp,
      sequence: health.sequence,
      organizationId: endpoint.organizationId,
    },
  }
}

export function isEndpointEvent(event: { readonly event: string }): event is EndpointEvent {
  return ENDPOINT_EVENT_TYPES.some((type) => type === event.event)
}

/**
 * The stable `webhook-id` of an event about an endpoint.
 *
 * @example
 * const event = endpointEvent(endpoint, decideEndpoint(health, attempt, now, endpoint.url), now)
 * const webhookId = event === null ? null : endpointEventId(event)
 */
export function endpointEventId({ data }: EndpointEvent): string {
  return `evt_${data.id}_${data.sequence}`
}

/** The range of the `webhook-id`s of an endpoint's test events, and what they begin with before an underscore. */
export function testEventIds(endpointId: string): {
  readonly prefix: string
  readonly from: string
  readonly until: string
} {
  const prefix = `evt_${endpointId}_test`
  return { prefix, from: `${prefix}_`, until: `${prefix}\`` }
}
