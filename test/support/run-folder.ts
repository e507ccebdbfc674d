import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Gives everything temporary of this process and its workers one folder, which ends with the process, along with the
 * PostgreSQL servers in it. Workers are killed half a second after their last file, which is too soon to tidy up themselves.
 */
export function useRunFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-tests-'))
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.once('exit', () => {
    const servers = globSync('carillon-pg-*/data/postmaster.pid', { cwd: folder })
    for (const file of servers) end(join(folder, file))
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
}

/**
 * Ends a server at once, and waits for that: until then it writes to its folder.
 *
 * @param file where it has written its process id, and which it removes in the end
 */
function end(file: string): void {
  const [pid] = readFileSync(file, 'utf8').split('\n')
  try {
    process.kill(Number(pid), 'SIGQUIT')
  } catch {
    // It has crashed.
    return
  }
  for (let turn = 0; existsSync(file) && turn < 500; turn += 1) Atomics.wait(STOPPED, 0, 0, 10)
}

const STOPPED = new Int32Array(new SharedArrayBuffer(4))
