import type { JobRef } from '../../../src/ports/queue.ts'
import type { JobListener } from '../../../src/ports/storage/storage.ts'
import type { Value } from './values.ts'

/** What one commit makes due. */
export interface MadeDue {
  /** All of its jobs, due now or later, for a queue engine; null: there is none. */
  readonly refs: JobRef[] | null
  /** Whether others are to look for work. When they do, they learn what is due later. */
  wakes: boolean
}

export interface JobRow {
  readonly id: number
  readonly lane: string
}

/** What is used of a transaction. */
interface Making {
  rows<Row>(statement: string, values: readonly Value[]): Promise<Row[]>
  readonly made: MadeDue
}

/** Runs a statement on jobs that are due from then on. */
export async function makingDue(tx: Making, statement: string, values: readonly Value[]): Promise<void> {
  addDue(tx.made, await tx.rows<JobRow>(`${statement} RETURNING id, lane`, values))
}

/** Takes note of jobs that are due from then on. */
export function addDue(made: MadeDue, rows: readonly JobRow[]): void {
  addRefs(
    made,
    rows.map(({ id, lane }) => ({ jobId: String(id), lane, dueInMs: 0 })),
  )
}

/** Takes note of jobs that are due now or later. */
export function addRefs(made: MadeDue, refs: readonly JobRef[]): void {
  if (refs.some(({ dueInMs }) => dueInMs <= 0)) made.wakes = true
  for (const ref of refs) made.refs?.push(ref)
}

/** How commits announce what they make due: each job to a queue engine, or that there is something to other processes. */
export interface Announcing {
  readonly to: JobListener | null
  /** To be filled by one commit. */
  made(): MadeDue
  /** Before the commit. */
  inside(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    made: MadeDue,
  ): Promise<void>
  /** After the commit. */
  after(made: MadeDue): void
  use(to: JobListener): void
  /** Has `wake` called for every commit that wakes; a queue engine has its own way of waking those that deliver. */
  wakeBy(wake: () => void): void
}

export function createAnnouncing(): Announcing {
  let to: JobListener | null = null
  let wake = (): void => {}
  return {
    get to() {
      return to
    },
    use(next) {
      to = next
    },
    wakeBy(next) {
      wake = next
    },
    made: () => ({ refs: to === null ? null : [], wakes: false }),
    async inside(run, { refs }) {
      if (to !== null && 'inside' in to && refs !== null && refs.length > 0) await to.inside(run, refs)
    },
    after({ refs, wakes }) {
      if (to === null) {
        if (wakes) wake()
      } else if ('told' in to && refs !== null && refs.length > 0) to.told(refs)
    },
  }
}
