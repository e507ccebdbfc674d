/** What this process remembers of the attempts of a job that goes on. */
export interface Remembered {
  /** Providers that it has failed over from. */
  readonly failedOver: ReadonlySet<string>
  /** The one provider that may be asked, because it may have taken the message; null: any. */
  readonly only: string | null
}

/** The attempts of jobs that go on; gone with the process, and bounded: what is forgotten is looked up or asked again. */
export interface Memory {
  of(jobId: string): Remembered | undefined
  failOver(jobId: string, from: string): void
  /** Begins anew. @param only see {@link Remembered} */
  retry(jobId: string, only: string | null): void
  forget(jobId: string): void
}

/** Jobs that another process goes on with are never forgotten by name. */
const MOST = 10_000

const NONE: ReadonlySet<string> = new Set()

export function createMemory(): Memory {
  const jobs = new Map<string, Remembered>()

  function keep(jobId: string, remembered: Remembered): void {
    jobs.delete(jobId)
    jobs.set(jobId, remembered)
    if (jobs.size <= MOST) return
    const [oldest] = jobs.keys()
    if (oldest !== undefined) jobs.delete(oldest)
  }

  return {
    of: (jobId) => jobs.get(jobId),
    failOver(jobId, from) {
      keep(jobId, { failedOver: new Set([...(jobs.get(jobId)?.failedOver ?? NONE), from]), only: null })
    },
    retry: (jobId, only) => keep(jobId, { failedOver: NONE, only }),
    forget: (jobId) => void jobs.delete(jobId),
  }
}
