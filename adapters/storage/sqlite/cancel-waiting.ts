import { cancellation } from '../../../src/core/notification/cancellation.ts'
import type { NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import type { Connection } from './connection.ts'
import type { Publisher } from './deliveries.ts'
import type { AddFacts, NotificationRow } from './facts.ts'
import { notificationJob } from './jobs.ts'

const SELECT_FACTS = 'SELECT fact FROM carillon_events WHERE notification = ? ORDER BY sequence'

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** Ends a notification that waits. Returns the published events. */
export type CancelWaiting = (row: NotificationRow, publisher: Publisher) => NotificationEvent[]

export function createCancelWaiting(connection: Connection, addFacts: AddFacts): CancelWaiting {
  const selectFacts = connection.statement<{ fact: string }>(SELECT_FACTS)
  const deleteJob = connection.statement(DELETE_JOB)

  return function cancelWaiting(row, publisher) {
    const facts = selectFacts()
      .all(row.seq)
      .map(({ fact }) => JSON.parse(fact))
    deleteJob().run(notificationJob(row.seq))
    return addFacts(row, [cancellation(facts)], 'engine', publisher)
  }
}
