import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory()

it.each([true, false])('nothing keeps a process alive after stop (delivering: %s)', async (deliver) => {
  const program = runProgram('lifecycle', {
    database: join(directory, `stop-${deliver}.db`),
    stop: true,
    deliver,
  })
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  expect(program.lines).toEqual(['sent', 'stopped'])
  expect(program.errors).toEqual([])
})

it('a process that delivers stays alive until it is told', async () => {
  const program = runProgram('lifecycle', {
    database: join(directory, 'stay.db'),
    stop: false,
    deliver: true,
  })
  await program.said('sent')
  const first = await Promise.race([
    program.ended,
    new Promise((resolve) => setTimeout(resolve, 700, 'alive')),
  ])
  expect(first).toBe('alive')
})
