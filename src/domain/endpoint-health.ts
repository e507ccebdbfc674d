import { EVENT_TYPES, type EventType } from './facts.ts'

/** Types of event about a webhook endpoint itself; only those that ask for them are told. */
export const ENDPOINT_EVENT_TYPES = ['webhook.failing', 'webhook.disabled'] as const

export type EndpointEventType = (typeof ENDPOINT_EVENT_TYPES)[number]

/** Everything that a webhook endpoint can choose to be told. */
export type WebhookEventType = EventType | EndpointEventType

export const WEBHOOK_EVENT_TYPES: readonly WebhookEventType[] = [...EVENT_TYPES, ...ENDPOINT_EVENT_TYPES]

/** Failed attempts on one event after which its endpoint counts as failing. */
const FAILING_ATTEMPTS = 4

/** DESIGN.md §4 "Webhook retries": so long of nothing but failure disables an endpoint. */
export const DISABLED_AFTER_MS: number = 5 * 24 * 60 * 60_000

/** What a storage keeps about how deliveries to an endpoint go. */
export interface EndpointHealth {
  /** When the first attempt since the last success failed; epoch milliseconds. Null: the last one succeeded. */
  readonly failingSince: number | null
  /** `webhook.failing` has been announced since then. */
  readonly told: boolean
}

/** Before the first attempt, after a success, and after the owner acted: a new address, or enabled again. */
export const HEALTHY: EndpointHealth = { failingSince: null, told: false }

/** How one attempt ended, as a settlement says it. */
export interface EndpointAttempt {
  /** Absent: no request was made, and nothing is known of the endpoint. */
  readonly attempt?: { readonly attempt: number; readonly succeeded: boolean } | undefined
  /** `end`: the delivery is given up, unless it succeeded. */
  readonly next: { readonly kind: 'end' | 'retry' }
  /** It failed by our own fault, or because we stopped: that says nothing of the endpoint. */
  readonly blameless?: true | undefined
  /** The endpoint said that it is gone for good (410). */
  readonly disable?: 'gone' | undefined
}

export interface EndpointVerdict {
  readonly health: EndpointHealth
  /** Disable it, for this reason. */
  readonly disable: 'gone' | 'failing' | null
  readonly announce: EndpointEventType | null
}

/**
 * Judges an active endpoint by an attempt: the one function that every storage calls under the endpoint's row lock, so
 * that processes agree and nothing is announced twice. An endpoint is disabled as `failing` only when a delivery is
 * given up, so that two faults with quiet days between them do not end it.
 */
export function judgeEndpoint(
  health: EndpointHealth,
  { attempt, next, blameless, disable }: EndpointAttempt,
  now: number,
): EndpointVerdict {
  const failingSince = health.failingSince ?? now
  if (disable === 'gone') return disabled(failingSince, 'gone')
  if (attempt?.succeeded === true) return { health: HEALTHY, disable: null, announce: null }
  if (attempt === undefined || blameless === true) return { health, disable: null, announce: null }
  if (next.kind === 'end' && now - failingSince >= DISABLED_AFTER_MS) return disabled(failingSince, 'failing')
  const tell = !health.told && attempt.attempt >= FAILING_ATTEMPTS
  return {
    health: { failingSince, told: health.told || tell },
    disable: null,
    announce: tell ? 'webhook.failing' : null,
  }
}

function disabled(failingSince: number, disable: 'gone' | 'failing'): EndpointVerdict {
  return { health: { failingSince, told: true }, disable, announce: 'webhook.disabled' }
}

/** Tells what became of a webhook endpoint. Its address is left out: it may hold a secret. */
export interface EndpointEvent {
  readonly event: EndpointEventType
  readonly data: {
    /** The endpoint's id. */
    readonly id: string
    /** After it. */
    readonly status: 'active' | 'disabled'
    /** Why it was disabled; null: it was not. */
    readonly reason: 'gone' | 'failing' | null
    /** ISO 8601 UTC: since when every attempt has failed. */
    readonly failingSince: string
    /** ISO 8601 UTC: when this was recorded. */
    readonly timestamp: string
    readonly organizationId: string
  }
}

/** The public form of a verdict; null: there is nothing to announce. */
export function endpointEvent(
  endpoint: { readonly id: string; readonly organizationId: string },
  { health, disable, announce }: EndpointVerdict,
  now: number,
): EndpointEvent | null {
  if (announce === null) return null
  const timestamp = new Date(now).toISOString()
  return {
    event: announce,
    data: {
      id: endpoint.id,
      status: disable === null ? 'active' : 'disabled',
      reason: disable,
      failingSince: health.failingSince === null ? timestamp : new Date(health.failingSince).toISOString(),
      timestamp,
      organizationId: endpoint.organizationId,
    },
  }
}

export function isEndpointEvent(event: { readonly event: string }): event is EndpointEvent {
  return ENDPOINT_EVENT_TYPES.some((type) => type === event.event)
}

/** Begins the `webhook-id` of every event about an endpoint, and of no other. */
export const ENDPOINT_EVENT_ID = 'evt_wh_'

/** The stable `webhook-id` of an event about an endpoint. */
export function endpointEventId({ event, data }: EndpointEvent): string {
  return `evt_${data.id}_${event.slice('webhook.'.length)}_${Date.parse(data.timestamp)}`
}
