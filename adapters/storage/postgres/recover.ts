import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import { lostAttempt, lostPost } from '../../../src/core/notification/lost-attempt.ts'
import type { Connection, Transaction } from './connection.ts'
import { recordAttempts } from './deliveries.ts'
import { createLedger } from './facts.ts'
import { standingsOfHeld } from './states.ts'

/** State 3 if an attempt had started, under this or an earlier lease. Skips rows that another process is recovering. */
const TAKE_BACK = `
  WITH expired AS (
    SELECT id, provider, attempts FROM carillon.jobs
    WHERE state = 2 AND (lease_until <= $1::bigint OR lease_until > $1::bigint + ${LONGEST_LEASE_MS})
    ORDER BY lease_until LIMIT 1000 FOR UPDATE SKIP LOCKED)
  UPDATE carillon.jobs AS j
  SET state = CASE WHEN j.recovered OR j.provider IS NOT NULL THEN 3 ELSE 0 END,
    recovered = j.recovered OR j.provider IS NOT NULL,
    token = NULL, lease_until = NULL, provider = NULL, due_at = $1::bigint
  FROM expired WHERE j.id = expired.id
  RETURNING j.id, j.subject, j.lane, expired.provider, expired.attempts`

interface ExpiredRow {
  readonly id: number
  readonly subject: string
  readonly lane: string
  /** Null: no attempt had started. */
  readonly provider: string | null
  readonly attempts: number
}

/** Recovers expired leases in a separate commit. */
export type RecoverExpired = () => Promise<void>

export function createRecoverExpired(connection: Connection): RecoverExpired {
  async function recover(tx: Transaction): Promise<void> {
    const expired = await tx.rows<ExpiredRow>(TAKE_BACK, [tx.now])
    // Recovered jobs are claimed by lane only, so a queue engine gets no refs.
    if (expired.length > 0) tx.made.wakes = true
    const lost = expired.filter(({ provider }) => provider !== null).sort((a, b) => a.id - b.id)
    const ofEvents = lost.filter(({ id }) => id % 2 === 1)
    const ofNotifications = lost.filter(({ id }) => id % 2 === 0)
    await recordAttempts(
      tx,
      ofEvents.map(({ subject, lane, attempts: attempt }) => ({
        eventId: subject,
        endpoint: lane,
        attempt: lostPost(attempt),
      })),
    )
    const standings = await standingsOfHeld(
      tx,
      ofNotifications.map(({ subject }) => subject),
    )
    const ledger = createLedger(tx)
    for (const { subject, provider, attempts: attempt } of ofNotifications) {
      const standing = standings.get(subject)
      if (standing === undefined || provider === null) continue
      ledger.add(standing, [lostAttempt(attempt, provider)], 'engine')
    }
    await ledger.write()
  }

  return () => connection.transaction(recover)
}
