import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobRef, Queue } from '../ports/queue.ts'

/** Enqueues refs at a queue engine without blocking their sender. */
export interface Enqueuer {
  add(refs: readonly JobRef[]): void
  /** Whether the last set of refs arrived. */
  works(): boolean
  /** Waits for the added refs, at most `limitMs`. */
  flush(limitMs: number): Promise<void>
}

export interface EnqueuerOptions {
  readonly queue: Pick<Queue, 'enqueue'>
  readonly clock: Clock
  /** Receives refs that could not be enqueued. Their jobs are stored. */
  onMissed(refs: readonly JobRef[]): void
  onError(error: unknown): void
}

/** Maximum number of waiting refs. The sweep finds the jobs of those beyond. */
const MOST_WAITING = 100_000
/** Timeout of one `enqueue`. */
const TIMEOUT_MS = 5_000
/** Interval of reports about an unavailable engine. */
const REPORT_EVERY_MS = 60_000

/** One `enqueue` at a time: refs added meanwhile go together in the next. */
export function createEnqueuer({ queue, clock, onMissed, onError }: EnqueuerOptions): Enqueuer {
  let waiting: JobRef[] = []
  let running: Promise<void> | null = null
  let works = true
  let reportedAt = Number.NEGATIVE_INFINITY

  function report(error: unknown): void {
    works = false
    if (clock.monotonic() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = clock.monotonic()
    const message =
      'The queue engine accepted no jobs. Nothing is lost: the jobs are stored, and polling finds them.'
    onError(new Error(message, { cause: error }))
  }

  async function enqueue(refs: readonly JobRef[]): Promise<void> {
    try {
      const enqueued = queue.enqueue(refs)
      if (!(await within(enqueued, TIMEOUT_MS, clock))) {
        enqueued.catch(() => {})
        throw new Error(`It did not answer within ${TIMEOUT_MS} ms.`)
      }
      works = true
      reportedAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      report(error)
      onMissed(refs)
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const refs = waiting
      waiting = []
      await enqueue(refs)
    }
    running = null
  }

  return {
    add(refs) {
      const room = MOST_WAITING - waiting.length
      for (const ref of refs.length <= room ? refs : refs.slice(0, room)) waiting.push(ref)
      if (refs.length > room) {
        report(new Error(`More than ${MOST_WAITING} jobs wait to be enqueued.`))
        onMissed(refs.slice(room))
      }
      running ??= Promise.resolve().then(run)
    },
    works: () => works,
    async flush(limitMs) {
      if (running !== null) await within(running, limitMs, clock)
    },
  }
}
