import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Check } from './bench.ts'

/** Hosts without a service. Names below `.invalid` never exist (RFC 6761 6.4). */
const NOWHERE: readonly (readonly [
  what: string,
  at: () => Promise<readonly [host: string, port: number]>,
])[] = [
  ['refuses the connection', async () => ['127.0.0.1', await closedPort()]],
  ['does not exist', async () => ['provider.invalid', 443]],
]

/** Timeout of a lookup without a name server. */
const LOOK_UP_MS = 2_000

/** Without a connection nothing was sent: another attempt is safe. */
export function unreachableChecks(check: Check): void {
  for (const [what, at] of NOWHERE) {
    check(`a message to a host that ${what} was certainly not sent, and is tried again`, async (bench) => {
      const [host, port] = await at()
      const outcome = await bench.sendTo(host, port, { signal: AbortSignal.timeout(LOOK_UP_MS) })
      assert.equal(outcome.kind, 'retry', JSON.stringify(outcome))
    })
  }
}

/** A closed port of this machine. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  await once(server.close(), 'close')
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
