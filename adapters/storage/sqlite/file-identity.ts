import { statSync } from 'node:fs'

/** A file and its identity when it was opened. */
export interface FileIdentity {
  readonly path: string
  readonly device: number
  readonly inode: number
}

export function placeOf(path: string): FileIdentity {
  const { dev: device, ino: inode } = statSync(path)
  return { path, device, inode }
}

/**
 * False: the file is gone or replaced. Compares inode numbers, as SQLite does itself without a write-ahead log: the
 * system keeps the number while the file is open. Windows refuses to remove or rename a file that SQLite has open.
 *
 * Uses stat and never opens the file: closing it would release SQLite's locks.
 */
export function isInPlace({ path, device, inode }: FileIdentity): boolean {
  if (process.platform === 'win32') return true
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === inode && found.dev === device
  } catch {
    // The process has dropped its privileges, so the system does not tell.
    return true
  }
}
