import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Answers 200 to every request and reports when the expected number has arrived.

let left = 0

/** The expected number may be set after the first requests have arrived. */
function count(more: number): void {
  left += more
  if (left === 0) process.send?.('complete')
}

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-length': 2 }).end('ok')
    count(-1)
  })
})
server.keepAliveTimeout = 60_000

process.on('message', count)

// On every address of this machine, so that each endpoint can have its own host.
server.listen(0, '0.0.0.0', () => process.send?.((server.address() as AddressInfo).port))
