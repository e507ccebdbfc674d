import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'

/** Without comments and blank lines. */
const MOST_LINES = 1_190

const STORAGE = 'map-storage'
const CONTRACT = 'map-storage-contract'

let consumer: Consumer
let sources: readonly { readonly file: string; readonly text: string }[]

beforeAll(async () => {
  consumer = await createConsumer(['@types/node'])
  const files = await Promise.all(
    [STORAGE, CONTRACT].map(async (folder) => {
      const names = await readdir(fromRoot(`test/${folder}`))
      return names.map((name) => `${folder}/${name}`)
    }),
  )
  sources = await Promise.all(
    files.flat().map(async (file) => ({ file, text: await readFile(fromRoot(`test/${file}`), 'utf8') })),
  )
  for (const { file, text } of sources) await consumer.write(file, text)
})

afterAll(() => consumer?.remove())

/** The sources of the storage itself. */
function storage(): string[] {
  return sources.filter(({ file }) => file.startsWith(`${STORAGE}/`)).map(({ text }) => text)
}

test(`a storage takes at most ${MOST_LINES} lines of code`, () => {
  const lines = storage().flatMap((text) => text.split('\n'))
  const code = lines.filter((line) => !/^\s*(?:\/[/*].*|\*.*)?$/.test(line))
  expect(code.length).toBeGreaterThan(500)
  expect(code.length).toBeLessThanOrEqual(MOST_LINES)
})

test('it imports the package and nothing else', () => {
  const imported = storage().flatMap((text) => [...text.matchAll(/from '([^']+)'/g)].map(([, name]) => name))
  expect(new Set(imported.filter((name) => name?.startsWith('./') === false))).toEqual(
    new Set(['carillon', 'carillon/storage-kit']),
  )
})

/** Maps have no commit whose answer can be lost, and no query that filters rows. */
const FOR_DATABASES = ['commitLookup', 'idOf', 'lowerAddress', 'toPage']

test('the kit exports no value that it does not need', async () => {
  const code = `console.log(JSON.stringify(Object.keys(await import('carillon/storage-kit'))))`
  const exported: string[] = JSON.parse(await consumer.node('--input-type=module', '-e', code))
  const used = new Set(storage().flatMap((text) => text.match(/(?<=\bkit\.)\w+/g)))
  expect(exported.filter((name) => !used.has(name))).toEqual(FOR_DATABASES)
})

test('it compiles strictly against the published types', () =>
  consumer.compile(
    sources.map(({ file }) => file),
    { target: 'es2023', erasableSyntaxOnly: true },
  ))

test('it passes the contract', async () => {
  const printed = await consumer.node('--test-reporter=tap', `${CONTRACT}/contract.ts`)
  const count = (kind: string): number => Number(new RegExp(`^# ${kind} (\\d+)$`, 'm').exec(printed)?.[1])
  expect(count('fail')).toBe(0)
  expect(count('pass')).toBeGreaterThan(250)
  const skipped = new Set([...printed.matchAll(/^ok .+ # SKIP (.+)$/gm)].map(([, reason]) => reason))
  // It has no commits that can fail, and no transactions.
  expect([...skipped].sort()).toEqual([
    'Optional, and absent: The harness loses no answer to a commit.',
    'Optional, and absent: The harness makes no commit fail.',
    'Optional, and absent: The storage joins no transaction of its caller.',
  ])
})
