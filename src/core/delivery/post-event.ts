import type { SecretBox } from '../access/secrets.ts'
import type { HttpResult } from '../channels/http-answer.ts'
import type { Observer } from '../observe/observer.ts'
import type { SpanEnd } from '../observe/telemetry.ts'
import type { Clock } from '../ports/clock.ts'
import type { OutgoingHttp, PostSignal } from '../ports/outgoing.ts'
import type { WebhookSigner } from '../ports/signer.ts'
import type { DeliveryAttempt, SentRequest, WebhookEndpoint } from '../ports/storage/webhook-endpoints.ts'
import type { WebhookRequestRecord } from './webhook-request.ts'

/** Dependencies for signing and posting events. */
export interface PostServices {
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  readonly observer: Observer
  /** Available after the start of the notifier. */
  box(): SecretBox
}

/** Timeout of a post. */
const TIMEOUT_MS = 5_000

/** Stored part of an answer, for the delivery log. */
const MAX_RESPONSE_BYTES = 2_048

/** An event to post. */
export interface PostedEvent {
  /** The `webhook-id`. */
  readonly eventId: string
  readonly eventType: string
  readonly payload: string
}

/** Result of a post. */
export interface Posted {
  readonly result: HttpResult
  /** Absent: nothing was sent. */
  readonly request?: SentRequest
  /** The reason why the event could not be signed. Absent: signed. */
  readonly unsigned?: unknown
}

/** Signs an event with every secret of its endpoint and posts it. Never rejects. */
export async function postEvent(
  services: PostServices,
  endpoint: WebhookEndpoint,
  event: PostedEvent,
  signal?: PostSignal,
): Promise<Posted> {
  const { eventId, eventType } = event
  const { observer, clock } = services
  const began = clock.monotonic()
  const posted = await observer.span(
    { name: 'post', event: eventType, eventId, endpointId: endpoint.id },
    (span) => post(services, endpoint, event, span?.headers ?? {}, signal),
    spanEnd,
  )
  const { result } = posted
  const status = result.kind === 'answered' ? classOf(result.status) : 'none'
  observer.record({ type: 'posted', event: eventType, status, durationMs: clock.monotonic() - began })
  return posted
}

async function post(
  { outgoing, signer, clock, box }: PostServices,
  endpoint: WebhookEndpoint,
  event: PostedEvent,
  traceHeaders: Readonly<Record<string, string>>,
  signal: PostSignal | undefined,
): Promise<Posted> {
  const { organizationId, url } = endpoint
  const timestamp = Math.floor(clock.now() / 1000)
  let signature: Record<string, string>
  try {
    const secrets = endpoint.secrets.map((sealed) => box().open(sealed))
    signature = signer.headers(event.eventId, timestamp, event.payload, secrets)
  } catch (error) {
    // Repeated by the schedule, so that a wrong "secret" can be corrected, and finally a visible failure.
    const message = error instanceof Error ? error.message : 'The event could not be signed.'
    const result = { kind: 'failed', reason: 'aborted', requestSent: false, message, durationMs: 0 } as const
    return { result, unsigned: error }
  }
  const result = await outgoing.post({
    organizationId,
    url,
    headers: { ...traceHeaders, ...headersOf(event.eventId, timestamp), ...signature },
    body: event.payload,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...(signal === undefined ? {} : { signal }),
  })
  const sent = result.kind === 'answered' || result.requestSent
  return sent ? { result, request: { url, timestamp } } : { result }
}

/**
 * The headers that are not secret. The log derives them again when it is read: a change of them needs a version in
 * {@link SentRequest}, or older requests would be shown wrong.
 */
function headersOf(eventId: string, timestamp: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'carillon-webhooks/1',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
  }
}

function classOf(status: number): '2xx' | '3xx' | '4xx' | '5xx' {
  if (status < 300) return '2xx'
  if (status < 400) return '3xx'
  return status < 500 ? '4xx' : '5xx'
}

function spanEnd({ result }: Posted): SpanEnd {
  if (result.kind === 'failed') return { failure: result.reason }
  const { status } = result
  return status < 400 ? { status } : { status, failure: String(status) }
}

/** The log entry of a post. */
export function attemptOf(attempt: number, { result, request }: Posted, succeeded: boolean): DeliveryAttempt {
  return {
    attempt,
    status: result.kind === 'answered' ? result.status : null,
    response: result.kind === 'answered' ? result.body : result.message,
    durationMs: Math.round(result.durationMs),
    succeeded,
    ...(request === undefined ? {} : { request }),
  }
}

/** The logged request. */
export function requestOf(eventId: string, request: SentRequest | undefined): WebhookRequestRecord | null {
  if (request === undefined) return null
  const { url, timestamp } = request
  return { url, headers: headersOf(eventId, timestamp) }
}
