import { judgePost, type PostResult, type PostVerdict } from '../../domain/http-answer.ts'
import { retryDelay, WEBHOOK_RETRY } from '../../domain/retry.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { ClaimedJob } from '../../ports/storage/claim.ts'
import type { DeliveryAttempt, Settlement } from '../../ports/storage/settle.ts'
import type { SecretBox } from '../secrets.ts'
import type { Attempts } from './attempts.ts'
import type { Lane } from './lane.ts'

type EventJob = Extract<ClaimedJob, { kind: 'event' }>

/** What delivers webhook events. */
export interface EventDelivery {
  readonly attempts: Attempts
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  box(): SecretBox
  /** In [0, 1). */
  random(): number
}

/** SPEC.md "Events", rule 2. */
const TIMEOUT_MS = 5_000

/** The lane of one webhook endpoint. @param slots bounds what all endpoints together and each alone have under way */
export function createEventLane(
  slots: { free(): number; run(task: () => Promise<void>): Promise<void> },
  delivery: EventDelivery,
): Lane {
  const { attempts, outgoing, signer, clock, box, random } = delivery

  async function deliver(job: EventJob, stop: AbortSignal): Promise<void> {
    const { endpoint } = job.delivery
    if (!(await attempts.begin({ jobId: job.jobId, token: job.token, provider: endpoint.id }))) return
    const result = await post(job, stop)
    const verdict = judgePost(result, endpoint.successStatus, clock.now())
    await attempts.settle(settlementOf(job, result, verdict, random()))
  }

  async function post({ delivery }: EventJob, signal: AbortSignal): Promise<PostResult> {
    const { endpoint, eventId, payload } = delivery
    let signature: Record<string, string>
    try {
      const secrets = endpoint.secrets.map((sealed) => box().open(sealed))
      signature = signer.headers(eventId, Math.floor(clock.now() / 1000), payload, secrets)
    } catch (error) {
      // Tried again by the schedule, so that a wrong "secret" can be put right, and ends visibly if it is not.
      const message = error instanceof Error ? error.message : 'The event could not be signed.'
      return { kind: 'failed', reason: 'aborted', requestSent: false, message, durationMs: 0 }
    }
    return outgoing.post({
      url: endpoint.url,
      headers: { 'content-type': 'application/json', 'user-agent': 'carillon-webhooks/1', ...signature },
      body: payload,
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  }

  return {
    free: slots.free,
    async run(job) {
      if (job.kind === 'event') await slots.run(() => attempts.run(job, (stop) => deliver(job, stop)))
    },
  }
}

function settlementOf(job: EventJob, result: PostResult, verdict: PostVerdict, random: number): Settlement {
  const number = job.attempts + 1
  const attempt = attemptOf(number, result, verdict)
  const ref = { jobId: job.jobId, token: job.token, kind: 'event' as const, attempt }
  if (verdict.kind === 'succeeded') return { ...ref, ended: 'delivered', next: { kind: 'end' } }
  if (verdict.kind === 'refused' && verdict.code === 'endpoint_gone') {
    return { ...ref, ended: 'failed', disable: 'gone', next: { kind: 'end' } }
  }
  const hintMs = verdict.kind === 'failed' ? verdict.retryAfterMs : undefined
  const delayMs = retryDelay(WEBHOOK_RETRY, number, random, hintMs)
  return delayMs === null
    ? { ...ref, ended: 'failed', next: { kind: 'end' } }
    : { ...ref, next: { kind: 'retry', delayMs } }
}

function attemptOf(attempt: number, result: PostResult, verdict: PostVerdict): DeliveryAttempt {
  const succeeded = verdict.kind === 'succeeded'
  return {
    attempt,
    status: result.kind === 'answered' ? result.status : null,
    response: result.kind === 'answered' ? result.body : result.message,
    durationMs: Math.round(result.durationMs),
    succeeded,
  }
}
