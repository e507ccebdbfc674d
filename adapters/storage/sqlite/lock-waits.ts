import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from './errors.ts'

/**
 * Calls that wait for a lock of another program. While one waits, later ones wait behind it, so that their order stays.
 * The event loop continues: the first one tries again in growing intervals, the others not at all.
 */
export interface LockWaits {
  /**
   * Runs `work` at once, or once the file is no longer locked.
   *
   * @throws the error of `work`; SQLite's, if the file is still locked after five seconds
   */
  run<Answer>(work: () => Answer): Promise<Answer>
  /** Resolves when no call waits. */
  idle(): Promise<void>
}

/** Longest wait for another program. */
const PATIENCE_MS = 5_000
/**
 * So long SQLite itself waits, which blocks the process. Commits of other processes of Carillon take less.
 */
export const BLOCKING_MS = 5
const SHORTEST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 50

/** The file is locked, so nothing has been done. */
class LockedError extends Error {}

/** Runs a step before which nothing has been done: if the file is locked, the whole work is repeated. */
export function unlocked<Answer>(step: () => Answer): Answer {
  try {
    return step()
  } catch (cause) {
    throw codeOf(cause) === 'BUSY' ? new LockedError('', { cause }) : cause
  }
}

interface Waiting {
  /** Monotonic. */
  readonly until: number
  /** Null: it has ended. Otherwise the file is locked. */
  attempt(): LockedError | null
  fail(error: unknown): void
}

export function createLockWaits(): LockWaits {
  let waiting: Waiting[] = []
  let trying: Promise<void> | undefined

  async function tryInTurn(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS
    while (waiting.length > 0) {
      await (pauseMs === 0 ? nextTurn() : sleep(pauseMs))
      const locked = waiting[0]?.attempt() ?? null
      if (locked === null) {
        waiting.shift()
        pauseMs = 0
        continue
      }
      pauseMs = Math.min(Math.max(2 * pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
      giveUp(locked.cause)
    }
    trying = undefined
  }

  /** Without a try of each, which would block the process for long. */
  function giveUp(error: unknown): void {
    const now = performance.now()
    const late = waiting.filter(({ until }) => until <= now)
    waiting = waiting.filter(({ until }) => until > now)
    for (const { fail } of late) fail(error)
  }

  function wait<Answer>(work: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      waiting.push({
        until: performance.now() + PATIENCE_MS,
        attempt() {
          try {
            resolve(work())
          } catch (error) {
            if (error instanceof LockedError) return error
            reject(error)
          }
          return null
        },
        fail: reject,
      })
      trying ??= tryInTurn()
    })
  }

  return {
    async run(work) {
      if (waiting.length > 0) return wait(work)
      try {
        return work()
      } catch (error) {
        if (error instanceof LockedError) return wait(work)
        throw error
      }
    },
    idle: async () => trying,
  }
}
