import type { AcceptRequest } from '../../../src/core/ports/storage/accept.ts'
import type { Connection } from './connection.ts'
import { addRefs, type JobRow } from './due-jobs.ts'

const SELECT_JOBS = `
  SELECT j.id, j.lane, j.due_at FROM carillon.notifications AS n JOIN carillon.jobs AS j ON j.id = 2 * n.seq
  WHERE n.id = ANY ($1::text[])`

/** Enqueues jobs that a caller's transaction stored. Only the database sees its commit, so this waits for it. */
export async function enqueueStored(connection: Connection, { notifications }: AcceptRequest): Promise<void> {
  const { dueJobs } = connection
  if (dueJobs.sink === null) return dueJobs.afterCommit({ refs: null, wakes: true })
  const ids = notifications.map(({ id }) => id)
  await connection.transaction(async ({ rows, made, now }) => {
    const jobs = await rows<JobRow & { readonly due_at: number }>(SELECT_JOBS, [ids])
    addRefs(
      made,
      jobs.map(({ id, lane, due_at: dueAt }) => ({
        jobId: String(id),
        lane,
        dueInMs: Math.max(0, dueAt - now),
      })),
    )
  })
}
