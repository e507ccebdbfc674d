import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/**
 * A directory for a test file.
 *
 * @param atEnd calls its argument when the directory is to be removed: `onTestFinished` for the directory of one test
 */
export function temporaryDirectory(atEnd: (remove: () => void) => void = afterAll): string {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-test-'))
  atEnd(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
