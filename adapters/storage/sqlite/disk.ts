import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { isWhereItWas, type Place, placeOf } from './place.ts'

/** Brings what has been committed to the disk, outside of the event loop. */
export interface Disk {
  /**
   * Takes an open database into use.
   *
   * @param waits whether {@link flush} waits for the disk
   */
  open(files: DatabaseFiles, waits: boolean): void
  /**
   * Resolves when everything that was committed before the call is on the disk. Calls share one request to the disk, and
   * those that arrive while one runs share the next.
   *
   * @throws NotifierError `service_unavailable`: nobody knows what is on the disk, or the files are not in their place
   */
  flush(): Promise<void>
  /**
   * Looks at the files, once a second where they are in their place: for what is refused without being written.
   *
   * @throws NotifierError `service_unavailable` as {@link flush} does
   */
  check(now: number): void
  /** Waits for what runs, and lets go of the log. */
  close(): Promise<void>
}

/** By the names that SQLite has opened. */
export interface DatabaseFiles {
  readonly database: string
  readonly log: string
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const CHECK_MS = 1_000

/** Asks the system to bring a file's data to the disk. */
export type SyncData = (file: number, done: (error: Error | null) => void) => void

/**
 * SQLite commits without waiting for the disk (`synchronous = NORMAL`), which takes microseconds, and the log is then
 * synchronized here. That is as durable as `synchronous = FULL`, which does the same inside of the commit: in WAL mode a
 * commit is the log's bytes, and a checkpoint synchronizes the log before it and the database after it
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). But the event loop goes on meanwhile, and all that was
 * committed since shares one wait.
 */
export function createDisk(syncData: SyncData = fdatasync): Disk {
  let file: number | undefined
  let waiting: Waiter[] = []
  let running: Promise<void> | undefined
  let scheduled = false
  let broken: NotifierError | undefined
  let places: readonly Place[] = []
  let checkedAt = Number.NEGATIVE_INFINITY

  function run(): void {
    scheduled = false
    const set = waiting
    waiting = []
    running = new Promise((resolve) => {
      syncData(file as number, (error) => {
        running = undefined
        end(set, error)
        if (waiting.length > 0) schedule()
        resolve()
      })
    })
  }

  function end(set: readonly Waiter[], error: Error | null): void {
    if (error !== null) broken = refused(error)
    const failure = fault()
    for (const { resolve, reject } of set) {
      if (failure === undefined) resolve()
      else reject(failure)
    }
  }

  function fault(): NotifierError | undefined {
    if (broken !== undefined) return broken
    const gone = places.find((place) => !isWhereItWas(place))
    if (gone === undefined) return undefined
    checkedAt = Number.NEGATIVE_INFINITY
    return moved(gone.path)
  }

  /** After all that this turn commits. */
  function schedule(): void {
    if (scheduled || running !== undefined) return
    scheduled = true
    process.nextTick(run)
  }

  return {
    open({ database, log }, waits) {
      broken = undefined
      checkedAt = Number.NEGATIVE_INFINITY
      places = [database, log].map(placeOf)
      if (!waits) return
      // For writing: Windows flushes only such files. A new log's name must be on the disk as well as its bytes.
      file = openSync(log, 'r+')
      syncFolder(dirname(log))
    },
    async flush() {
      if (broken !== undefined) throw broken
      if (file === undefined) {
        const failure = fault()
        if (failure !== undefined) throw failure
        return
      }
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        schedule()
      })
    },
    check(now) {
      if (broken === undefined && Math.abs(now - checkedAt) < CHECK_MS) return
      const failure = fault()
      if (failure !== undefined) throw failure
      checkedAt = now
    },
    async close() {
      while (running !== undefined || scheduled) await (running ?? nextTick())
      if (file !== undefined) closeSync(file)
      file = undefined
      places = []
    },
  }
}

/** A process goes on with a file that has lost its name, and what it writes there is gone when it ends. */
function moved(path: string): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      `"${path}" was removed or replaced while this process used it, and nothing more is accepted. ` +
      'Put that file back, or start the process again with the one that is there.',
  })
}

/** After a failed synchronization the system may have dropped the bytes, and later ones would seem to succeed. */
function refused(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'The disk did not keep what was written, and nothing more is accepted. Look after the disk, then start the process again.',
    cause,
  })
}

/** Behind what was scheduled before; a promise that is there would never let it run. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

function syncFolder(folder: string): void {
  // Windows has no such call, and needs none.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
