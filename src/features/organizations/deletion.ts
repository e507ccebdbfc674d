import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../core/ports/clock.ts'
import type { DeletionRepository, PurgeAnswer } from '../../core/ports/storage/deletions.ts'

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
    else if (step.left === 'transactions' && clock.monotonic() < end) await wait(clock)
    else return { notifications, left: step.left }
  }
}

function wait(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ASK_EVERY_MS, resolve)
  })
}
