import type { JobRef } from '../../../src/ports/queue.ts'
import type { JobListener } from '../../../src/ports/storage/storage.ts'
import type { Value } from './values.ts'

/** Jobs that a transaction makes due, for a queue engine; null: there is none. */
export type MadeDue = JobRef[] | null

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
  if (tx.made === null) await tx.rows(statement, values)
  else addDue(tx.made, await tx.rows<JobRow>(`${statement} RETURNING id, lane`, values))
}

export function addDue(made: JobRef[], rows: readonly JobRow[]): void {
  for (const { id, lane } of rows) made.push({ jobId: String(id), lane, dueInMs: 0 })
}

/** How transactions announce what they make due. */
export interface Announcing {
  readonly to: JobListener | null
  /** A list for one transaction. */
  list(): MadeDue
  /** Before the commit. */
  inside(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    made: MadeDue,
  ): Promise<void>
  /** After the commit. */
  after(made: MadeDue): void
  use(to: JobListener): void
}

export function createAnnouncing(): Announcing {
  let to: JobListener | null = null
  return {
    get to() {
      return to
    },
    use(next) {
      to = next
    },
    list: () => (to === null ? null : []),
    async inside(run, made) {
      if (to !== null && 'inside' in to && made !== null && made.length > 0) await to.inside(run, made)
    },
    after(made) {
      if (to !== null && 'told' in to && made !== null && made.length > 0) to.told(made)
    },
  }
}
