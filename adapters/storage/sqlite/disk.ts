import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/** Brings what has been committed to the disk, outside of the event loop. */
export interface Disk {
  /** Takes the log of an open database into use. */
  open(log: string): void
  /**
   * Resolves when everything that was committed before the call is on the disk. Calls share one request to the disk, and
   * those that arrive while one runs share the next.
   *
   * @throws NotifierError `service_unavailable`: nobody knows what is on the disk
   */
  flush(): Promise<void>
  /** Waits for what runs, and lets go of the log. */
  close(): Promise<void>
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

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
    for (const { resolve, reject } of set) {
      if (broken === undefined) resolve()
      else reject(broken)
    }
  }

  /** After all that this turn commits. */
  function schedule(): void {
    if (scheduled || running !== undefined) return
    scheduled = true
    process.nextTick(run)
  }

  return {
    open(log) {
      // For writing: Windows flushes only such files. A new log's name must be on the disk as well as its bytes.
      file = openSync(log, 'r+')
      broken = undefined
      syncFolder(dirname(log))
    },
    flush() {
      if (broken !== undefined) return Promise.reject(broken)
      if (file === undefined) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        schedule()
      })
    },
    async close() {
      while (running !== undefined || scheduled) await (running ?? Promise.resolve())
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** After a failed synchronization the system may have dropped the bytes, and later ones would seem to succeed. */
function refused(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'The disk did not keep what was written, and nothing more is accepted. Look after the disk, then start the process again.',
    cause,
  })
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
