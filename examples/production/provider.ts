// Simulates the provider in a process that is never killed, so its count is the truth. node provider.ts
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Number of arrivals by notification. */
export type Arrivals = Readonly<Record<string, number>>

const arrivals = new Map<string, number>()

const server = createServer((request, response) => {
  request.resume()
  if (request.method === 'GET') {
    const answer = request.url === '/count' ? arrivals.size : Object.fromEntries(arrivals)
    response.end(JSON.stringify(answer))
    return
  }
  const id = String(request.headers['x-notification-id'])
  arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
  // Providers take time to answer.
  setTimeout(() => response.end(), 5 + Math.random() * 40)
})
// Longer than any pause of the load: a request on a connection that closes would be an ambiguous attempt.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('SIGINT', () => {})
process.once('disconnect', () => process.exit(0))
