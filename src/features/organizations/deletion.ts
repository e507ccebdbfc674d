import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DueHandler } from '../../core/due/due-records.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { DeletionRepository, PurgeAnswer } from '../../core/ports/storage/deletions.ts'
import { type OrganizationValue, organizationKind } from '../../core/tenancy/organization.ts'

/** Rows per commit: SQLite blocks the process for some milliseconds. */
const STEP = 100

/** Longest wait for transactions that were open when the deletion began. */
export const PATIENCE_MS = 30_000
const ASK_EVERY_MS = 100

/** Continues a deletion as far as possible now. */
export async function purge(
  deletions: Pick<DeletionRepository, 'purge'>,
  id: string,
  clock: Clock,
): Promise<PurgeAnswer> {
  const end = clock.monotonic() + PATIENCE_MS
  let notifications = 0
  for (;;) {
    const step = await deletions.purge(id, STEP)
    notifications += step.notifications
    if (step.left === 'more') await nextTurn()
    else if (step.left === 'transactions' && clock.monotonic() < end) await wait(clock, ASK_EVERY_MS)
    else return { notifications, left: step.left }
  }
}

/** Until a deletion goes on, by what is left. A long one is continued under a new lease. */
const AGAIN_MS = { more: 0, jobs: 60 * 60_000, transactions: 60_000 }

/** Between two steps, for other work. */
const PAUSE_MS = 25

/** Continues the deletions whose process has ended, and those that wait. */
export function deletionOfOrganizations(
  deletions: Pick<DeletionRepository, 'purge'>,
  clock: Clock,
): DueHandler<OrganizationValue> {
  return {
    kind: organizationKind,
    async handle({ record: { id, revision, readAt, value }, token, leaseMs }, signal) {
      const end = clock.monotonic() + leaseMs / 2
      for (;;) {
        const { left } = await deletions.purge(id, STEP)
        // It was the last step: the record is gone.
        if (left === 'nothing') return { writes: [] }
        if (left !== 'more' || signal.aborted || clock.monotonic() >= end) {
          const purgeAt = readAt + AGAIN_MS[left]
          const again = { ...value, purgeAt }
          return {
            writes: [{ kind: organizationKind, do: 'replace', id, revision, token, value: again }],
          }
        }
        await wait(clock, PAUSE_MS)
      }
    },
  }
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ms, resolve)
  })
}
