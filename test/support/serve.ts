import { createServer, type RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'
import { listen } from './parity/harness.ts'

/** Serves on this machine until the test ends; gives the port. */
export async function serve(listener: RequestListener): Promise<number> {
  const { url, close } = await listen(createServer(listener))
  onTestFinished(close)
  return Number(new URL(url).port)
}

/** As {@link serve}. */
export async function serveFastify(app: Pick<FastifyInstance, 'listen' | 'close'>): Promise<number> {
  onTestFinished(() => app.close())
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}
