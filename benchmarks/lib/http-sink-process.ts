import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Answers 200 to everything, and says when as many requests as it was told to expect have come.

let left = 0

/** What is expected may be told after the first of it has come. */
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

// Under every address of this machine: each endpoint can have a host of its own.
server.listen(0, '0.0.0.0', () => process.send?.((server.address() as AddressInfo).port))
