import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import { lostAttempt, lostPost } from '../../../src/core/notification/lost-attempt.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { type AddFacts, FACT_COLUMNS, FROM_NOTIFICATIONS, type NotificationRow } from './facts.ts'
import { isEventJob, subjectOf } from './jobs.ts'

/** Walks the index of lease ends; one statement for each end of it. */
const selectLeased = (ends: '<=' | '>'): string => `
  SELECT id, attempts, provider FROM carillon_jobs
  WHERE state = 2 AND lease_until ${ends} ? ORDER BY lease_until LIMIT 1000`

/** State 3 if an attempt had started, under this or an earlier lease. */
const TAKE_BACK = `
  UPDATE carillon_jobs
  SET state = CASE WHEN recovered = 1 OR provider IS NOT NULL THEN 3 ELSE 0 END,
      recovered = recovered OR provider IS NOT NULL,
      token = NULL, lease_until = NULL, provider = NULL, due_at = ?
  WHERE id = ?`

const SELECT_NOTIFICATION = `SELECT ${FACT_COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.seq = ?`

interface ExpiredRow {
  readonly id: number
  readonly attempts: number
  readonly provider: string | null
}

/** Recovers expired leases inside a claim's transaction. */
export type RecoverExpired = (now: number) => void

export function createRecoverExpired(
  connection: Connection,
  { addFacts, deliveries }: { readonly addFacts: AddFacts; readonly deliveries: Deliveries },
): RecoverExpired {
  const selectEnded = connection.statement<ExpiredRow>(selectLeased('<='))
  const selectTooLong = connection.statement<ExpiredRow>(selectLeased('>'))
  const takeBack = connection.statement(TAKE_BACK)
  const selectNotification = connection.statement<NotificationRow>(SELECT_NOTIFICATION)

  return function recoverExpired(now) {
    const expired = [...selectEnded().all(now), ...selectTooLong().all(now + LONGEST_LEASE_MS)]
    if (expired.length === 0) return
    const publisher = deliveries.publisher(now)
    for (const { id, attempts: attempt, provider } of expired) {
      takeBack().run(now, id)
      if (provider === null) continue
      const subject = subjectOf(id)
      if (isEventJob(id)) {
        deliveries.recordAttempt(subject, lostPost(attempt), now)
        continue
      }
      const row = selectNotification().get(subject)
      if (row === undefined) continue
      addFacts(row, [lostAttempt(attempt, provider)], 'engine', publisher)
    }
  }
}
