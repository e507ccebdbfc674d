import type { ClaimedJob } from '../ports/storage/claim.ts'

/** A job after a number of attempts. */
export type Tried = Pick<ClaimedJob, 'jobId' | 'attempts'>

/** What this process knows about the attempts of a continuing job. */
export interface Remembered {
  /** Providers that the job has failed over from. */
  readonly failedOver: ReadonlySet<string>
  /** The only provider that may be called, because it may have taken the message. Null: any. */
  readonly only: string | null
}

/** The attempts of continuing jobs: a bounded cache in memory. Missing entries are read again. */
export interface FailoverHistory {
  /** Undefined: unknown, or another process has tried the job since. */
  of(job: Tried): Remembered | undefined
  /** @param job after the failed attempt */
  failOver(job: Tried, from: string): void
  /** Starts over. @param only see {@link Remembered} */
  retry(job: Tried, only: string | null): void
  forget(jobId: string): void
}

/** Jobs that continue in another process are never removed explicitly, so the cache is bounded. */
const MOST = 10_000

const NONE: ReadonlySet<string> = new Set()

export function createFailoverHistory(): FailoverHistory {
  const jobs = new Map<string, Remembered & { readonly attempts: number }>()

  function keep({ jobId, attempts }: Tried, remembered: Remembered): void {
    jobs.delete(jobId)
    jobs.set(jobId, { ...remembered, attempts })
    if (jobs.size <= MOST) return
    const [oldest] = jobs.keys()
    if (oldest !== undefined) jobs.delete(oldest)
  }

  function of({ jobId, attempts }: Tried): Remembered | undefined {
    const remembered = jobs.get(jobId)
    return remembered?.attempts === attempts ? remembered : undefined
  }

  return {
    of,
    failOver(job, from) {
      const before = of({ ...job, attempts: job.attempts - 1 })
      keep(job, { failedOver: new Set([...(before?.failedOver ?? NONE), from]), only: null })
    },
    retry: (job, only) => keep(job, { failedOver: NONE, only }),
    forget: (jobId) => void jobs.delete(jobId),
  }
}
