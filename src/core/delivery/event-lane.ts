import { interpretPost, type PostResult } from '../channels/http-answer.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { Attempts, Ending } from './attempts.ts'
import type { Lane } from './lane.ts'
import { attemptOf, type Posted, type PostServices, postEvent } from './post-event.ts'
import { retryDelay, WEBHOOK_RETRY } from './retry-delay.ts'
import type { Slots } from './slots.ts'
import { postSignal, type Stop } from './stop.ts'

type EventJob = Extract<ClaimedJob, { kind: 'event' }>

/** Dependencies of event delivery. */
export interface EventDelivery extends PostServices {
  readonly attempts: Attempts
  /** In [0, 1). */
  random(): number
  /** Receives the reason why an event could not be signed. */
  unsigned(error: unknown): void
}

/** The lane of one webhook endpoint. @param slots limits the requests to each endpoint and to all together */
export function createEventLane(slots: Pick<Slots, 'free' | 'run'>, delivery: EventDelivery): Lane {
  const { attempts, clock, random, unsigned } = delivery

  async function deliver(job: EventJob, stop: Stop): Promise<Ending<'event'> | null> {
    const { endpoint } = job.delivery
    if (job.begun !== true && !(await attempts.begin(job, endpoint.id))) return null
    const posted = await postEvent(delivery, endpoint, job.delivery, postSignal(stop))
    if (posted.unsigned !== undefined) unsigned(posted.unsigned)
    const result = interpretPost(posted.result, endpoint.successStatus, clock.now())
    return endingOf(job, posted, result, random(), stop.aborted())
  }

  return {
    begin: true,
    free: slots.free,
    async run(job) {
      if (job.kind !== 'event') return
      await attempts.run(job, (stop) =>
        slots.run(
          // The slots of an operator's endpoint are not taken from the organizations of its events.
          job.delivery.endpoint.organizationId,
          () => deliver(job, stop),
          (ending) => attempts.settle(job, ending),
        ),
      )
    },
  }
}

function endingOf(
  job: EventJob,
  posted: Posted,
  meaning: PostResult,
  random: number,
  stopped: boolean,
): Ending<'event'> {
  const number = job.attempts + 1
  const { result } = posted
  const attempt = attemptOf(number, posted, meaning.kind === 'succeeded')
  // Not signed, or aborted by a stop: not the endpoint's fault.
  const ours = result.kind === 'failed' && result.reason === 'aborted'
  const ownFault = ours ? ({ ownFault: true } as const) : {}
  // The event waits like the endpoint's others: to be held with them, or for the endpoint's new address.
  const gone = meaning.kind === 'refused' && meaning.code === 'endpoint_gone'
  const disable = gone ? ({ disable: 'gone' } as const) : {}
  const about = { attempt, url: job.delivery.endpoint.url, ...ownFault, ...disable }
  if (meaning.kind === 'succeeded') return { ...about, ended: 'delivered', next: { kind: 'end' } }
  const hintMs = meaning.kind === 'failed' ? meaning.retryAfterMs : undefined
  // An attempt aborted by a stop, or one that finds the endpoint gone, is not the last.
  const delayMs = retryDelay(WEBHOOK_RETRY, number, random, hintMs) ?? (gone || (ours && stopped) ? 0 : null)
  return delayMs === null
    ? { ...about, ended: 'failed', next: { kind: 'end' } }
    : { ...about, next: { kind: 'retry', delayMs } }
}
