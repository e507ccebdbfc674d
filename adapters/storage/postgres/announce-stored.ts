import type { AcceptRequest } from '../../../src/ports/storage/accept.ts'
import type { JobRow } from './announce.ts'
import type { Connection } from './connection.ts'

const SELECT_JOBS = `
  SELECT j.id, j.lane, j.due_at FROM carillon.notifications AS n JOIN carillon.jobs AS j ON j.id = 2 * n.seq
  WHERE n.id = ANY ($1::text[])`

/** Announces jobs that a transaction of the caller's has stored: after its commit, which nobody else sees. */
export function announceStored(connection: Connection, { notifications }: AcceptRequest): Promise<void> {
  const ids = notifications.map(({ id }) => id)
  return connection.transaction(async ({ rows, made, now }) => {
    for (const { id, lane, due_at: dueAt } of await rows<JobRow & { readonly due_at: number }>(SELECT_JOBS, [
      ids,
    ]))
      made?.push({ jobId: String(id), lane, dueInMs: Math.max(0, dueAt - now) })
  })
}
