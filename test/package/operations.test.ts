import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/cli/built-in.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { type Consumer, createConsumer } from './consumer.ts'

let consumer: Consumer
let folder: string
beforeAll(async () => {
  consumer = await createConsumer()
  folder = join(consumer.directory, 'node_modules/carillon/dist/cli')
  await consumer.write('probe.mjs', PROBE)
})
afterAll(() => consumer?.remove())

/** Writes which files a command line has loaded, and their sizes. */
const PROBE = `
  import { readFileSync, writeFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) loaded.push([url, readFileSync(new URL(url)).length])
      return next(url, context)
    },
  })
  process.on('exit', () => writeFileSync('loaded.json', JSON.stringify(loaded)))
  await import('./node_modules/carillon/dist/cli/bin.js')`

test('the package has the operations of its OpenAPI document as data', async () => {
  const built = await import(pathToFileURL(join(folder, 'built-in.js')).href)
  expect(built.OPERATIONS).toEqual(OPERATIONS)
})

const HELPS = [
  [],
  ...COMMANDS.map(({ name }) => name.split(' ')),
  ...['sendNotification', 'createTemplate'].map((id) => ['call', id]),
]

test.for(HELPS.map((argv) => [argv] as const))('carillon %j --help loads little code', async ([argv]) => {
  const out = await consumer.node('probe.mjs', ...argv, '--help')
  expect(out).toMatch(argv.at(-1) === 'call' ? /sendNotification/ : /^Usage: carillon/m)
  const loaded: [string, number][] = JSON.parse(
    await readFile(join(consumer.directory, 'loaded.json'), 'utf8'),
  )
  expect(loaded.length).toBeGreaterThan(0)
  expect(loaded.map(([url]) => url).filter((url) => !url.includes('/carillon/dist/'))).toEqual([])
  expect(loaded.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(200_000)
})
