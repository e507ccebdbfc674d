import { afterAll, beforeAll, describe, test } from 'vitest'
import { entries } from '../../scripts/entries.mjs'
import type { Consumer } from './consumer.ts'
import { compileBlocks, createReader, PROGRAM } from './documentation.ts'

let reader: Consumer

beforeAll(async () => {
  reader = await createReader()
})
afterAll(() => reader?.remove())

/** docs.test.ts and published.test.ts compile with the newest. */
describe.each([
  ['the oldest supported version', 'typescript5.7'],
  ['the newest of TypeScript 5', 'typescript5.9'],
  ['TypeScript 6', 'typescript'],
])('with %s', (_, compiler) => {
  test('every declaration is free of errors, a program compiles, and its mistakes do not', async () => {
    const imports = entries().map(({ specifier }, at) => `export * as entry${at} from '${specifier}'\n`)
    await reader.write('all.ts', imports.join(''))
    await reader.write('program.ts', PROGRAM)
    await reader.compile(['all.ts', 'program.ts'], { compiler })
  })
})

test.each(['typescript5.7', 'typescript5.9'])(
  'every TypeScript block and every example of a function compiles with %s',
  (compiler) => compileBlocks(reader, compiler),
)
