import { createServer } from 'node:net'

/** Below those that a system gives to whoever names none, so that no connection of somebody else's takes it. */
const LEAST = 10_000
const COUNT = 10_000
/** Processes that run side by side look in different places. */
let next = (process.pid * 37) % COUNT

/**
 * A port that is free, and that nobody else is told: also for a server that starts later, or again. The one 10,000 above
 * it, which a node of a Redis cluster takes too, is free as well.
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
