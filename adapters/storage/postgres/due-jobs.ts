import type { JobRef } from '../../../src/core/ports/queue.ts'
import type { JobSink } from '../../../src/core/ports/storage/storage.ts'
import type { Value } from './values.ts'

/** The jobs that one commit makes due. */
export interface MadeDue {
  /** All its jobs, due now or later, for a queue engine. Null: no engine. */
  readonly refs: JobRef[] | null
  /** True: other processes must look for work. They then also learn about jobs that are due later. */
  wakes: boolean
}

export interface JobRow {
  readonly id: number
  readonly lane: string
}

/** The members in use of a transaction. */
interface Making {
  rows<Row>(statement: string, values: readonly Value[]): Promise<Row[]>
  readonly made: MadeDue
}

/** Runs a statement that makes jobs due now. */
export async function makingDue(tx: Making, statement: string, values: readonly Value[]): Promise<void> {
  addDue(tx.made, await tx.rows<JobRow>(`${statement} RETURNING id, lane`, values))
}

/** Adds jobs that are due now. */
export function addDue(made: MadeDue, rows: readonly JobRow[]): void {
  addRefs(
    made,
    rows.map(({ id, lane }) => ({ jobId: String(id), lane, dueInMs: 0 })),
  )
}

/** Adds jobs that are due now or later. */
export function addRefs(made: MadeDue, refs: readonly JobRef[]): void {
  if (refs.some(({ dueInMs }) => dueInMs <= 0)) made.wakes = true
  for (const ref of refs) made.refs?.push(ref)
}

/** Where commits report due jobs: each job to a queue engine, or a wake-up to other processes. */
export interface DueJobs {
  readonly sink: JobSink | null
  /** A new collector for one commit. */
  collect(): MadeDue
  beforeCommit(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    made: MadeDue,
  ): Promise<void>
  afterCommit(made: MadeDue): void
  use(sink: JobSink): void
  /** Calls `wake` after every commit that wakes. A queue engine has its own wake-up. */
  wakeBy(wake: () => void): void
}

export function createDueJobs(): DueJobs {
  let sink: JobSink | null = null
  let wake = (): void => {}
  return {
    get sink() {
      return sink
    },
    use(next) {
      sink = next
    },
    wakeBy(next) {
      wake = next
    },
    collect: () => ({ refs: sink === null ? null : [], wakes: false }),
    async beforeCommit(run, { refs }) {
      if (sink === null || !('enqueueInTransaction' in sink) || refs === null || refs.length === 0) return
      await sink.enqueueInTransaction(run, refs)
    },
    afterCommit({ refs, wakes }) {
      if (sink === null) {
        if (wakes) wake()
      } else if ('enqueue' in sink && refs !== null && refs.length > 0) sink.enqueue(refs)
    },
  }
}
