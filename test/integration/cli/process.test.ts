import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VERSION } from '../../../src/core/lifecycle/version.ts'
import { BIN, spawnCarillon, writeConfig } from '../../support/command-line.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = (): string => temporaryDirectory(onTestFinished)
const EMAIL = "{ email: { name: 'own', maxConcurrent: 1, send } }"

test.for([
  [['--help'], 0, 'carillon <command>', ''],
  [['--version'], 0, VERSION, ''],
  [['call', '--help'], 0, 'sendNotification', ''],
  [[], 2, 'carillon <command>', ''],
  [['cal'], 2, '', 'Did you mean "call"?'],
  [['call', 'getHealth'], 3, '', 'There is no carillon.config.ts'],
  [['call', 'getHealth', '--config', 'missing.mjs'], 3, '', 'missing.mjs'],
  [['call', 'getHealth', '--url', 'http://127.0.0.1:1'], 3, '', 'CARILLON_API_KEY'],
] as const)('carillon %j ends with %i', async ([argv, code, out, err]) => {
  const outcome = await spawnCarillon(argv, { cwd: folder() }).outcome
  expect(outcome.code).toBe(code)
  expect(outcome.out).toContain(out)
  expect(outcome.err).toContain(err)
  // Colours are for terminals.
  expect(outcome.out + outcome.err).not.toContain('\u001b')
})

test('a configuration in TypeScript is found from a folder below', async () => {
  const cwd = folder()
  writeConfig(cwd, { channels: EMAIL })
  const below = join(cwd, 'a', 'b')
  mkdirSync(below, { recursive: true })
  const argv = ['call', 'sendNotification', '--data', '-', '--json']
  const input = JSON.stringify({ channel: 'email', to: 'ada@example.com', text: 'Hi' })
  const sent = await spawnCarillon(argv, { cwd: below, input }).outcome
  expect(sent).toMatchObject({ code: 0, err: '' })
  const { id } = JSON.parse(sent.out)
  // Another process finds it, and no command line delivers.
  const shown = await spawnCarillon(['call', 'getNotification', id], { cwd }).outcome
  expect(JSON.parse(shown.out)).toMatchObject({ id, status: 'queued' })
})

test('a notifier of many organizations takes none by default', async () => {
  const cwd = folder()
  writeConfig(cwd, { more: "organizations: 'required'," })
  const argv = ['call', 'listNotifications', '--json']
  const unnamed = await spawnCarillon(argv, { cwd }).outcome
  expect(unnamed).toMatchObject({ code: 4, err: expect.stringContaining('missing_required_field') })
  for (const id of ['org_default', '*']) {
    const named = await spawnCarillon([...argv, '--organization', id], { cwd }).outcome
    expect(named).toMatchObject({ code: 0, err: '' })
  }
})

describe('a wrong configuration ends with 3', () => {
  test.for([
    ['export default {', 'SyntaxError|failed'],
    ["throw new Error('no database')", 'no database'],
    ['export default 1', 'must be a notifier'],
    ['export default () => { throw new Error("late") }', 'mjs failed: late'],
    ['export const notifier = 1', 'must be a notifier'],
    ["import 'missing-package'", 'missing-package'],
  ] as const)('%s', async ([source, says]) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'carillon.config.mjs'), source)
    const { code, out, err } = await spawnCarillon(['call', 'getHealth'], { cwd }).outcome
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(new RegExp(says))
    expect(err).toContain('carillon.config.mjs')
  })
})

test('a reader that leaves ends it quietly', async () => {
  const cwd = folder()
  writeConfig(cwd)
  const piped = `'${process.execPath}' '${BIN}' call getOpenApi | head -c 21; exit "\${PIPESTATUS[0]}"`
  const child = spawn('bash', ['-c', piped], { cwd })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect({ out, err, code }).toEqual({ out: '{\n  "openapi": "3.1.0', err: '', code: 0 })
})
