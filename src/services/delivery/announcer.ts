import type { Clock } from '../../ports/clock.ts'
import type { JobRef, Queue } from '../../ports/queue.ts'
import { within } from '../within.ts'

/** Tells a queue engine of jobs, and never keeps their sender waiting. */
export interface Announcer {
  add(refs: readonly JobRef[]): void
  /** Whether the last announcement arrived. */
  works(): boolean
  /** Waits for what has been added, for no longer than `limitMs`. */
  flush(limitMs: number): Promise<void>
}

export interface AnnouncerOptions {
  readonly queue: Pick<Queue, 'announce'>
  readonly clock: Clock
  /** Jobs that could not be announced: the storage has them. */
  missed(refs: readonly JobRef[]): void
  onError(error: unknown): void
}

/** Refs that may wait while the engine is slow; those beyond are left to the sweep. */
const MOST_WAITING = 100_000
/** The longest that one announcement may take. */
const PATIENCE_MS = 5_000
/** Between two reports of an engine that is away. */
const REPORT_EVERY_MS = 60_000

/** One announcement at a time: what is added meanwhile goes together in the next. */
export function createAnnouncer({ queue, clock, missed, onError }: AnnouncerOptions): Announcer {
  let waiting: JobRef[] = []
  let running: Promise<void> | null = null
  let works = true
  let reportedAt = Number.NEGATIVE_INFINITY

  function report(error: unknown): void {
    works = false
    if (clock.monotonic() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = clock.monotonic()
    const message =
      'The queue engine took no announcement. Nothing is lost: the jobs are stored, and are found by polling.'
    onError(new Error(message, { cause: error }))
  }

  async function announce(refs: readonly JobRef[]): Promise<void> {
    try {
      const announced = queue.announce(refs)
      if (!(await within(announced, PATIENCE_MS, clock))) {
        announced.catch(() => {})
        throw new Error(`It did not answer within ${PATIENCE_MS} ms.`)
      }
      works = true
      reportedAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      report(error)
      missed(refs)
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const refs = waiting
      waiting = []
      await announce(refs)
    }
    running = null
  }

  return {
    add(refs) {
      const room = MOST_WAITING - waiting.length
      for (const ref of refs.length <= room ? refs : refs.slice(0, room)) waiting.push(ref)
      if (refs.length > room) {
        report(new Error(`More than ${MOST_WAITING} announcements wait.`))
        missed(refs.slice(room))
      }
      running ??= Promise.resolve().then(run)
    },
    works: () => works,
    async flush(limitMs) {
      if (running !== null) await within(running, limitMs, clock)
    },
  }
}
