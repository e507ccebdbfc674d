import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A directory that is removed when the test file has run. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-test-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
