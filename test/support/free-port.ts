import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A port that is free now, and low enough for the one 10,000 above it, which a node of a Redis cluster takes too. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    if (port < 55_000) return port
  }
}
