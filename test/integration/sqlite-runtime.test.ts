import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../support/sqlite-harness.ts'

const program = fileURLToPath(new URL('programs/load-sqlite.ts', import.meta.url))

/** Runs the program; returns its lines. */
function load(...flags: readonly string[]): readonly string[] {
  const { file: database, remove } = temporaryFile()
  onTestFinished(remove)
  const { stdout } = spawnSync(process.execPath, [...flags, program, JSON.stringify({ database })], {
    encoding: 'utf8',
  })
  return stdout.trimEnd().split('\n')
}

/** What older versions of Node.js do, and two warnings that somebody else could cause meanwhile. */
const warns = `data:text/javascript,${encodeURIComponent(`
  const { getBuiltinModule } = process
  process.getBuiltinModule = (id) => {
    process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
    process.emitWarning('Another is an experimental feature', 'ExperimentalWarning')
    process.emitWarning('SQLite is an experimental idea', { type: 'OpinionWarning', code: 'OPINION' })
    return getBuiltinModule(id)
  }
`)}`

test('the start loads node:sqlite, and nothing before it', () => {
  expect(load()).toEqual([
    'loaded before the start: false',
    'loaded after the start: true',
    'emitWarning is its own: true',
  ])
})

test('of the warnings while it loads, only the one about SQLite is dropped', () => {
  expect(load('--import', warns)).toEqual([
    'loaded before the start: false',
    'ExperimentalWarning: Another is an experimental feature',
    'OpinionWarning: SQLite is an experimental idea',
    'loaded after the start: true',
    'emitWarning is its own: true',
  ])
})

test('a runtime without node:sqlite is told what it needs', () => {
  expect(load('--no-experimental-sqlite')).toEqual([
    'loaded before the start: false',
    expect.stringMatching(/^invalid_configuration: .*no "node:sqlite".*22\.13/),
    'emitWarning is its own: true',
  ])
})
