import { statSync } from 'node:fs'

/** A file, and which one it was when it was opened. */
export interface Place {
  readonly path: string
  readonly device: number
  readonly inode: number
}

export function placeOf(path: string): Place {
  const { dev: device, ino: inode } = statSync(path)
  return { path, device, inode }
}

/**
 * False when there is no file any more, or another one. By its number, as SQLite does itself where it has no write-ahead log:
 * while a file is open the system keeps that. Windows lets nobody remove or rename a file that SQLite has open.
 *
 * The file is looked at, never opened: to close it again would end the locks that SQLite has on it.
 */
export function isWhereItWas({ path, device, inode }: Place): boolean {
  if (process.platform === 'win32') return true
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === inode && found.dev === device
  } catch {
    // The system does not tell, to a process that has given its rights up.
    return true
  }
}
