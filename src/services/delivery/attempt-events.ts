import type { Fact } from '../../domain/facts.ts'
import type { ProcessListeners } from '../../domain/process-event.ts'
import { failureOf } from '../../domain/record-facts.ts'
import type { ClaimedJob, StartRef } from '../../ports/storage/claim.ts'
import type { Settlement } from '../../ports/storage/settle.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** Emits events about the attempts of the jobs in this process. */
export interface AttemptEvents {
  /** Follows a job until the returned function is called. */
  follow(job: ClaimedJob): () => void
  started(ref: StartRef): void
  settled(settlement: Settlement): void
}

export function createAttemptEvents(listeners: ProcessListeners): AttemptEvents {
  const jobs = new Map<string, NotificationJob>()

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
    follow(job) {
      if (job.kind !== 'notification') return () => {}
      jobs.set(job.jobId, job)
      return () => {
        // This process may hold the job under a later lease.
        if (jobs.get(job.jobId) === job) jobs.delete(job.jobId)
      }
    },
    started({ jobId, provider }) {
      const job = jobs.get(jobId)
      if (job === undefined || !listeners.wants('attempt.started')) return
      const attempt = job.attempts + 1
      listeners.tell({ event: 'attempt.started', data: { ...about(job), attempt, provider } })
    },
    settled(settlement) {
      if (settlement.kind !== 'notification' || !listeners.wants('attempt.failed')) return
      const job = jobs.get(settlement.jobId)
      // The fact of the attempt comes first; a final fact repeats it.
      const fact = settlement.facts.find(({ attempt, code }) => attempt !== undefined && code !== undefined)
      if (job !== undefined && fact !== undefined) failed(job, fact, settlement)
    },
  }
}
