import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { BatchPeopleOptions } from './programs/batch-people.ts'
import type { ServeOptions } from './programs/serve.ts'

const directory = temporaryDirectory()
const MiB = 1024 * 1024

/** Offers `size` bytes in pieces, as fast as they are taken; gives the status. */
function offer(port: number, secret: string, size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/notifications/batch',
        agent: false,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    outgoing.on('error', reject)
    const piece = Buffer.alloc(MiB / 4, ' ')
    let left = size
    function write(): void {
      while (left > 0) {
        left -= piece.length
        if (!outgoing.write(piece)) {
          outgoing.once('drain', write)
          return
        }
      }
      outgoing.end()
    }
    outgoing.write('{"notifications":[')
    write()
  })
}

it('a body that goes on for ever is refused while it is read, and no more of it is held than a batch may have', async () => {
  const options: ServeOptions = { database: join(directory, 'memory.db') }
  const program = runProgram('serve', options)
  const port = Number((await program.said('listening ')).slice('listening '.length))
  const secret = (await program.said('key ')).slice('key '.length)
  // Chunked: nothing tells the size in advance. The whole would be held if the limit were checked at its end.
  expect(await offer(port, secret, 120 * MiB)).toBe(413)
  program.kill('SIGUSR2')
  const peak = Number((await program.said('peak ')).slice('peak '.length))
  expect(peak).toBeGreaterThan(8 * MiB)
  expect(peak).toBeLessThan(40 * MiB)
})

it('100,000 people in batches are resolved in sets of a thousand, and none of them is kept', async () => {
  const options: BatchPeopleOptions = { database: join(directory, 'people.db'), batches: 10, size: 10_000 }
  const program = runProgram('batch-people', options, ['--expose-gc'])
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  const batches = program.lines.filter((line) => line.startsWith('batch ')).map((line) => line.split(' '))
  expect(batches.map(([, , accepted]) => accepted)).toEqual(Array(10).fill('10000'))
  expect(program.lines.at(-1)).toBe('asked 1000 100000')
  const [second = 0, ...others] = batches.slice(1).map(([, heap]) => Number(heap))
  // A person that is kept has some hundred bytes: eighty thousand of them would be seen.
  for (const heap of others) expect(heap - second).toBeLessThan(6 * MiB)
})
