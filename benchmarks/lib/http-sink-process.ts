import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Answers 200 to everything, and says when as many requests as it was told to expect have come.

let left = 0

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-length': 2 }).end('ok')
    left -= 1
    if (left === 0) process.send?.('complete')
  })
})
server.keepAliveTimeout = 60_000

process.on('message', (expected: number) => {
  left = expected
})

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
