import type { Fact } from '../notification/facts.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import { failureOf } from '../notification/record-facts.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { Settlement } from '../ports/storage/settle.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** Emits events about attempts of notifications. */
export interface AttemptEvents {
  started(job: ClaimedJob, provider: string): void
  settled(job: ClaimedJob, settlement: Settlement): void
}

export function createAttemptEvents(listeners: ProcessListeners): AttemptEvents {
  function about({ organizationId, notification: { id, channel, to } }: NotificationJob) {
    return { id, channel, to, organizationId }
  }

  function failed(job: NotificationJob, fact: Fact, { next }: Settlement): void {
    const { attempt = job.attempts + 1, provider = '' } = fact
    listeners.tell({
      event: 'attempt.failed',
      data: {
        ...about(job),
        attempt,
        provider,
        error: failureOf(fact),
        ambiguous: fact.ambiguous === true,
        nextAttemptInMs: next.kind === 'end' ? null : next.delayMs,
      },
    })
  }

  return {
    started(job, provider) {
      if (job.kind !== 'notification' || !listeners.wants('attempt.started')) return
      const attempt = job.attempts + 1
      listeners.tell({ event: 'attempt.started', data: { ...about(job), attempt, provider } })
    },
    settled(job, settlement) {
      if (job.kind !== 'notification' || settlement.kind !== 'notification') return
      if (!listeners.wants('attempt.failed')) return
      // The fact of the attempt comes first; a final fact repeats it.
      const fact = settlement.facts.find(({ attempt, code }) => attempt !== undefined && code !== undefined)
      if (fact !== undefined) failed(job, fact, settlement)
    },
  }
}
