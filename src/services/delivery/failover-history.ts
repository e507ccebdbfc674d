import type { ClaimedJob } from '../../ports/storage/claim.ts'

/** A job after so many attempts. */
export type Tried = Pick<ClaimedJob, 'jobId' | 'attempts'>

/** What this process remembers of the attempts of a job that goes on. */
export interface Remembered {
  /** Providers that it has failed over from. */
  readonly failedOver: ReadonlySet<string>
  /** The one provider that may be asked, because it may have taken the message; null: any. */
  readonly only: string | null
}

/** The attempts of jobs that go on; gone with the process, and bounded: what is forgotten is looked up or asked again. */
export interface FailoverHistory {
  /** Undefined: nothing, or another process has tried it since. */
  of(job: Tried): Remembered | undefined
  /** @param job after the attempt that it fails over from */
  failOver(job: Tried, from: string): void
  /** Begins anew. @param only see {@link Remembered} */
  retry(job: Tried, only: string | null): void
  forget(jobId: string): void
}

/** Jobs that another process goes on with are never forgotten by name. */
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
