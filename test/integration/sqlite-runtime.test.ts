import { spawnSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { programFile } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import type { LoadOptions } from './programs/load-sqlite.ts'

/** Runs the program; returns its lines. */
function load(storage: LoadOptions['storage'], ...flags: readonly string[]): readonly string[] {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  const options: LoadOptions = { storage, file }
  const { stdout } = spawnSync(
    process.execPath,
    [...flags, programFile('load-sqlite'), JSON.stringify(options)],
    {
      encoding: 'utf8',
    },
  )
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

test.each(['default', 'file'] as const)(
  'the start loads node:sqlite, and nothing before it: %s',
  (storage) => {
    expect(load(storage)).toEqual([
      'loaded before the start: false',
      'loaded after the start: true',
      'emitWarning is its own: true',
    ])
  },
)

test('another storage never loads it', () => {
  expect(load('postgres')).toEqual([
    'loaded before the start: false',
    expect.stringMatching(/^service_unavailable: .*PostgreSQL/),
    'loaded after the start: false',
    'emitWarning is its own: true',
  ])
})

test('of the warnings while it loads, only the one about SQLite is dropped', () => {
  expect(load('file', '--import', warns)).toEqual([
    'loaded before the start: false',
    'ExperimentalWarning: Another is an experimental feature',
    'OpinionWarning: SQLite is an experimental idea',
    'loaded after the start: true',
    'emitWarning is its own: true',
  ])
})

test.each(['default', 'file'] as const)(
  'a runtime without node:sqlite is told what it needs: %s',
  (storage) => {
    expect(load(storage, '--no-experimental-sqlite')).toEqual([
      'loaded before the start: false',
      expect.stringMatching(/^invalid_configuration: .*no "node:sqlite".*22\.13.*driver/),
      'loaded after the start: false',
      'emitWarning is its own: true',
    ])
  },
)
