import { createServer } from 'node:net'

/** Below the ephemeral ports, so that no outgoing connection takes it. */
const LEAST = 10_000
const COUNT = 10_000
/** Concurrent processes search in different places. */
let next = (process.pid * 37) % COUNT

/**
 * Finds a free port and reserves it within this process, also for a server that starts later or again. The port 10,000
 * above, which a Redis cluster node also needs, is free as well.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LEAST + next
    next = (next + 1) % COUNT
    if ((await isFree(port)) && (await isFree(port + COUNT))) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
