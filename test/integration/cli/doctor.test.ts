import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { carillon, spawnCarillon, writeConfig } from '../../support/command-line.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = (): string => temporaryDirectory(onTestFinished)

test('doctor finds a sound service', async () => {
  const cwd = folder()
  const check = 'check: async () => {}'
  const channels = `{ email: { name: 'own', maxConcurrent: 1, send, ${check} }, sms: { name: 'plain', maxConcurrent: 1, send } }`
  writeConfig(cwd, { channels })
  const { code, out, err } = await spawnCarillon(['doctor', '--json'], { cwd }).outcome
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const found = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(found.map(({ part, result }) => [part, result])).toEqual([
    ['Node.js', 'ok'],
    ['configuration', 'ok'],
    ['storage sqlite', 'ok'],
    ['provider email/own', 'ok'],
    ['provider sms/plain', 'ok'],
  ])
})

test('doctor says what to do about each fault', async () => {
  const cwd = folder()
  const refuses = "check: async () => { throw new Error('wrong password') }"
  writeConfig(cwd, {
    name: 'carillon.config.mjs',
    channels: `{ email: { name: 'own', maxConcurrent: 1, send, ${refuses} } }`,
  })
  const { code, out } = await carillon(['doctor'], { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(/^failed {3}provider email\/own: wrong password\n {9}Correct the options of "own"/m)
})

test.for([
  ["throw new Error('no database')", 'configuration: .*no database'],
  [
    "import { createNotifier } from 'SOURCES/src/index.ts'\nimport { sqlite } from 'SOURCES/adapters/storage/sqlite/index.ts'\n" +
      "export default createNotifier({ storage: sqlite({ file: '/missing/folder/n.db' }), channels: {} })",
    'start: .*',
  ],
] as const)('doctor stops at what nothing works without: %s', async ([source, says]) => {
  const cwd = folder()
  const sources = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
  writeFileSync(join(cwd, 'carillon.config.mjs'), source.replaceAll('SOURCES', sources))
  const { code, out } = await carillon(['doctor'], { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(new RegExp(`^failed {3}${says}\n {9}\\S`, 'm'))
})
