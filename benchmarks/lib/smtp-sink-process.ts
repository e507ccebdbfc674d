import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

// Accepts every mail and reports when the expected number has arrived.

let left = 0

/** The expected number may be set after the first mails have arrived. */
function count(more: number): void {
  left += more
  if (left === 0) process.send?.('complete')
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    stream.resume()
    stream.on('end', () => {
      callback()
      count(-1)
    })
  },
})
server.on('error', () => {})

process.on('message', count)

server.listen(0, '127.0.0.1', () => process.send?.((server.server.address() as AddressInfo).port))
