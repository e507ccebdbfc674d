import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '../support/program.ts'
import { tcpReceiver } from '../support/receivers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { LifecycleOptions } from './programs/lifecycle.ts'
import type { StopStartingOptions } from './programs/stop-starting.ts'

const directory = temporaryDirectory()

/** Answers each request with 200 and leaves the connection open for as long as the other side wants it. */
async function patientReceiver(): Promise<number> {
  const receiver = await tcpReceiver((socket) =>
    socket.on('data', (bytes) => {
      if (String(bytes).includes('POST /')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    }),
  )
  onTestFinished(() => receiver.close())
  return receiver.port
}

it.each([true, false])('nothing keeps a process alive after stop (delivering: %s)', async (deliver) => {
  const program = runProgram('lifecycle', {
    database: join(directory, `stop-${deliver}.db`),
    stop: true,
    deliver,
    port: await patientReceiver(),
  } satisfies LifecycleOptions)
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  // What would: connections, timers, files. A process that ends late would have ended all the same.
  expect(program.lines).toEqual(['sent', 'kept by nothing'])
  expect(program.errors).toEqual([])
})

it('a process that delivers stays alive until it is told', async () => {
  const program = runProgram('lifecycle', {
    database: join(directory, 'stay.db'),
    stop: false,
    deliver: true,
    port: await patientReceiver(),
  } satisfies LifecycleOptions)
  await program.said('sent')
  const first = await Promise.race([
    program.ended,
    new Promise((resolve) => setTimeout(resolve, 700, 'alive')),
  ])
  expect(first).toBe('alive')
})

it('a stop during a start that never answers ends, and keeps nothing alive', async () => {
  const program = runProgram('stop-starting', { port: null } satisfies StopStartingOptions)
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  expect(program.lines).toEqual(['start: not_started', 'kept by nothing'])
})

it('a stop does not wait for PostgreSQL to give up, whose connection then ends by itself', async () => {
  const silent = await tcpReceiver((socket) => void socket.resume())
  onTestFinished(() => silent.close())
  const program = runProgram('stop-starting', { port: silent.port } satisfies StopStartingOptions)
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  // Had it waited, the start would have been refused by the storage.
  expect(program.lines).toEqual(['start: not_started'])
  expect(silent.connections).toBe(1)
  await silent.drained()
})
