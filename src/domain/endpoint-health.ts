import { EVENT_TYPES, type EventType } from './facts.ts'

/** Types of event about a webhook endpoint itself; only those that ask for them are told. */
export const ENDPOINT_EVENT_TYPES = ['webhook.failing', 'webhook.disabled'] as const

export type EndpointEventType = (typeof ENDPOINT_EVENT_TYPES)[number]

/** Everything that a webhook endpoint can choose to be told. */
export type WebhookEventType = EventType | EndpointEventType

export const WEBHOOK_EVENT_TYPES: readonly WebhookEventType[] = [...EVENT_TYPES, ...ENDPOINT_EVENT_TYPES]

/** Failed attempts on one event after which its endpoint counts as failing. */
const FAILING_ATTEMPTS = 4

/** So long of nothing but failure disables an endpoint. */
export const DISABLED_AFTER_MS: number = 5 * 24 * 60 * 60_000

/** What a storage keeps about how deliveries to an endpoint go. */
export interface EndpointHealth {
  /** When the first attempt since the last success failed; epoch milliseconds. Null: the last one succeeded. */
  readonly failingSince: number | null
  /** `webhook.failing` has been announced since then. */
  readonly failingPublished: boolean
  /** The `sequence` of the last event about the endpoint: how many there have been. */
  readonly sequence: number
}

/** Before the first attempt. */
export const NEW_HEALTH: EndpointHealth = { failingSince: null, failingPublished: false, sequence: 0 }

/** After a success, and after the owner acted: a new address, or enabled again. The count of its events goes on. */
export function healed({ sequence }: EndpointHealth): EndpointHealth {
  return { ...NEW_HEALTH, sequence }
}

/** How one attempt ended, as a settlement says it. */
export interface EndpointAttempt {
  /** Absent: no request was made, and nothing is known of the endpoint. */
  readonly attempt?:
    | {
        readonly attempt: number
        readonly succeeded: boolean
      }
    | undefined
  /** Where it went, or was to go. Default: the endpoint's address. */
  readonly url?: string | undefined
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
  readonly eventType: EndpointEventType | null
}

/**
 * Judges an active endpoint by an attempt: the one function that every storage calls under the endpoint's row lock, so
 * that processes agree, nothing is announced twice, and events are numbered without a gap. An endpoint is disabled as
 * `failing` only when a delivery is given up, so that two faults with quiet days between them do not end it.
 *
 * @param url its address by now: what was under way to another one when that changed says nothing of this
 */
export function judgeEndpoint(
  health: EndpointHealth,
  { attempt, url: to, next, blameless, disable }: EndpointAttempt,
  now: number,
  url: string,
): EndpointVerdict {
  if (to !== undefined && to !== url) return { health, disable: null, eventType: null }
  const failingSince = health.failingSince ?? now
  if (disable === 'gone') return disabled(health, failingSince, 'gone')
  if (attempt?.succeeded === true) return { health: healed(health), disable: null, eventType: null }
  if (attempt === undefined || blameless === true) return { health, disable: null, eventType: null }
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
): EndpointVerdict {
  const health = { failingSince, failingPublished: true, sequence: sequence + 1 }
  return { health, disable, eventType: 'webhook.disabled' }
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
    /** 1, 2, 3… over the events of both types about this endpoint: orders those that arrive out of order. */
    readonly sequence: number
    readonly organizationId: string
  }
}

/** The public form of a verdict; null: there is nothing to announce. */
export function endpointEvent(
  endpoint: { readonly id: string; readonly organizationId: string },
  { health, disable, eventType }: EndpointVerdict,
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

/** Begins the `webhook-id` of every event about an endpoint, and of no other. */
export const ENDPOINT_EVENT_ID = 'evt_wh_'

/** The stable `webhook-id` of an event about an endpoint. */
export function endpointEventId({ data }: EndpointEvent): string {
  return `evt_${data.id}_${data.sequence}`
}
