import { closeSync, fdatasync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'

/** Flushes commits to disk outside of the event loop. */
export interface Disk {
  /**
   * Starts to flush an open database.
   *
   * @param waits whether {@link flush} waits for the disk
   */
  open(files: DatabaseFiles, waits: boolean): void
  /**
   * Resolves when every commit before the call is on disk. Calls share one flush; calls that arrive during a flush
   * share the next.
   *
   * @throws NotifierError `service_unavailable`: the state of the disk is unknown, or the files were moved
   */
  flush(): Promise<void>
  /**
   * Checks that the files are in place, at most once a second while they are. For calls that are refused before any
   * write.
   *
   * @throws NotifierError `service_unavailable` like {@link flush}
   */
  check(now: number): void
  /** Waits for a running flush and closes the log file. */
  close(): Promise<void>
}

/** Named as SQLite opened them. */
export interface DatabaseFiles {
  readonly database: string
  readonly log: string
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const CHECK_MS = 1_000

/**
 * SQLite commits without waiting for the disk (`synchronous = NORMAL`, microseconds), and this flushes the log
 * afterwards. That is as durable as `synchronous = FULL`, which flushes inside the commit: in WAL mode a commit is the
 * log's bytes, and a checkpoint flushes the log before it and the database after it
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). But the event loop continues meanwhile, and all commits
 * since the last flush share one.
 */
export function createDisk(): Disk {
  let file: number | undefined
  let waiting: Waiter[] = []
  let running: Promise<void> | undefined
  let scheduled = false
  let broken: NotifierError | undefined
  let identities: readonly FileIdentity[] = []
  let checkedAt = Number.NEGATIVE_INFINITY

  function run(): void {
    scheduled = false
    const set = waiting
    waiting = []
    running = new Promise((resolve) => {
      fdatasync(file as number, (error) => {
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
    const gone = identities.find((file) => !isSameFile(file))
    if (gone === undefined) return undefined
    checkedAt = Number.NEGATIVE_INFINITY
    return moved(gone.path)
  }

  /** After all commits of this turn. */
  function schedule(): void {
    if (scheduled || running !== undefined) return
    scheduled = true
    process.nextTick(run)
  }

  return {
    open({ database, log }, waits) {
      broken = undefined
      checkedAt = Number.NEGATIVE_INFINITY
      identities = [database, log].map(identityOf)
      if (!waits) return
      // Opened for writing: Windows flushes only such files. A new log's directory entry must be on disk as well.
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
      identities = []
    },
  }
}

/** A process can keep writing to a file that lost its name; the data is gone when the process ends. */
function moved(path: string): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      `"${path}" was removed or replaced while this process used it. Nothing more is accepted. ` +
      'Restore the file, or restart the process with the current one.',
  })
}

/** After a failed flush the system may have dropped the bytes, and later flushes would seem to succeed. */
function refused(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'A flush to disk failed, so written data may be lost. Nothing more is accepted. Check the disk, then restart the process.',
    cause,
  })
}

/** Queued behind earlier callbacks. A resolved promise would run before them. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

function syncFolder(folder: string): void {
  // Windows cannot flush directories and does not need to.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A file and its identity when it was opened. */
interface FileIdentity {
  readonly path: string
  readonly device: number
  readonly inode: number
}

function identityOf(path: string): FileIdentity {
  const { dev: device, ino: inode } = statSync(path)
  return { path, device, inode }
}

/**
 * False: the file is gone or replaced. Compares inode numbers, as SQLite does itself without a write-ahead log: the
 * system keeps the number while the file is open. Windows refuses to remove or rename a file that SQLite has open.
 *
 * Uses stat and never opens the file: closing it would release SQLite's locks.
 */
function isSameFile({ path, device, inode }: FileIdentity): boolean {
  if (process.platform === 'win32') return true
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === inode && found.dev === device
  } catch {
    // The process has dropped its privileges, so the system does not tell.
    return true
  }
}
