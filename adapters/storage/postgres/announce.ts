import type { JobRef } from '../../../src/ports/queue.ts'
import type { JobListener } from '../../../src/ports/storage/storage.ts'
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

/** How commits announce due jobs: each job to a queue engine, or a wake-up to other processes. */
export interface Announcing {
  readonly to: JobListener | null
  /** A new collector for one commit. */
  made(): MadeDue
  /** Before the commit. */
  inside(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    made: MadeDue,
  ): Promise<void>
  /** After the commit. */
  after(made: MadeDue): void
  use(to: JobListener): void
  /** Calls `wake` after every commit that wakes. A queue engine has its own wake-up. */
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
