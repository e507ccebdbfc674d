import type { PostResult } from '../../domain/http-answer.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { DeliveryAttempt, WebhookEndpoint } from '../../ports/storage/webhook-endpoints.ts'
import type { SecretBox } from '../secrets.ts'

/** What signs and posts events. */
export interface EventPost {
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  /** Known once the notifier has started. */
  box(): SecretBox
}

/** SPEC.md "Events", rule 2. */
const TIMEOUT_MS = 5_000

/** Kept of an answer, for the delivery log: enough to see what went wrong. */
const MAX_RESPONSE_BYTES = 2_048

/** Signs an event with every secret of its endpoint and posts it. Never rejects. */
export async function postEvent(
  { outgoing, signer, clock, box }: EventPost,
  endpoint: WebhookEndpoint,
  event: { readonly eventId: string; readonly payload: string },
  signal?: AbortSignal,
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
    headers: { 'content-type': 'application/json', 'user-agent': 'carillon-webhooks/1', ...signature },
    body: event.payload,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    ...(signal === undefined ? {} : { signal }),
  })
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
