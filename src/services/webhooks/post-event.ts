import type { PostResult } from '../../domain/http-answer.ts'
import type { SpanEnd } from '../../domain/telemetry.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { DeliveryAttempt, WebhookEndpoint } from '../../ports/storage/webhook-endpoints.ts'
import type { SecretBox } from '../secrets.ts'
import type { Observer } from '../telemetry/observer.ts'

/** What signs and posts events. */
export interface EventPost {
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  readonly observer: Observer
  /** Known once the notifier has started. */
  box(): SecretBox
}

/** SPEC.md "Events", rule 2. */
const TIMEOUT_MS = 5_000

/** Kept of an answer, for the delivery log: enough to see what went wrong. */
const MAX_RESPONSE_BYTES = 2_048

/** An event as it is posted. */
export interface PostedEvent {
  /** The `webhook-id`. */
  readonly eventId: string
  readonly eventType: string
  readonly payload: string
}

/** Signs an event with every secret of its endpoint and posts it. Never rejects. */
export async function postEvent(
  how: EventPost,
  endpoint: WebhookEndpoint,
  event: PostedEvent,
  signal?: AbortSignal,
): Promise<PostResult> {
  const { eventId, eventType } = event
  const { observer, clock } = how
  const began = clock.monotonic()
  const result = await observer.span(
    { name: 'post', event: eventType, eventId, endpointId: endpoint.id },
    (span) => post(how, endpoint, event, span?.headers ?? {}, signal),
    spanEnd,
  )
  const status = result.kind === 'answered' ? classOf(result.status) : 'none'
  observer.record({ type: 'posted', event: eventType, status, durationMs: clock.monotonic() - began })
  return result
}

async function post(
  { outgoing, signer, clock, box }: EventPost,
  endpoint: WebhookEndpoint,
  event: PostedEvent,
  traceHeaders: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<PostResult> {
  let signature: Record<string, string>
  try {
    const secrets = endpoint.secrets.map((sealed) => box().open(sealed))
    signature = signer.headers(event.eventId, Math.floor(clock.now() / 1000), event.payload, secrets)
  } catch (error) {
    // Tried again by the schedule, so that a wrong "secret" can be put right, and ends visibly if it is not.
    const message = error instanceof Error ? error.message : 'The event could not be signed.'
    return { kind: 'failed', reason: 'aborted', requestSent: false, message, durationMs: 0 }
  }
  return outgoing.post({
    url: endpoint.url,
    headers: {
      ...traceHeaders,
      'content-type': 'application/json',
      'user-agent': 'carillon-webhooks/1',
      ...signature,
    },
    body: event.payload,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...(signal === undefined ? {} : { signal }),
  })
}

function classOf(status: number): '2xx' | '3xx' | '4xx' | '5xx' {
  if (status < 300) return '2xx'
  if (status < 400) return '3xx'
  return status < 500 ? '4xx' : '5xx'
}

function spanEnd(result: PostResult): SpanEnd {
  if (result.kind === 'failed') return { failure: result.reason }
  const { status } = result
  return status < 400 ? { status } : { status, failure: String(status) }
}

/** What a log says of a post. */
export function attemptOf(attempt: number, result: PostResult, succeeded: boolean): DeliveryAttempt {
  return {
    attempt,
    status: result.kind === 'answered' ? result.status : null,
    response: result.kind === 'answered' ? result.body : result.message,
    durationMs: Math.round(result.durationMs),
    succeeded,
  }
}
