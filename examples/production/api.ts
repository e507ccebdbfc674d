// A process that accepts and does not deliver: node api.ts <options as JSON>
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { notifierHandler } from 'carillon/node'
import { given, ready, stopOnTerm } from './child.ts'
import { type Addresses, productionNotifier } from './notifier.ts'

export interface ApiOptions extends Addresses {
  readonly port: number
}

const { port, ...addresses } = given<ApiOptions>()
const notifier = productionNotifier(addresses)
notifier.on('error', (error) => console.error(error.message))
await notifier.start({ deliver: false })

const handler = notifierHandler(notifier, { https: 'allow-loopback' })
const underWay = new Set<ServerResponse>()
let draining = false

const server = createServer((request, response) => {
  underWay.add(response)
  response.on('close', () => underWay.delete(response))
  if (draining) response.setHeader('connection', 'close')
  handler(request, response)
})

stopOnTerm(async () => {
  // Refuses new connections. Open ones end with the answer to their last request.
  draining = true
  for (const response of underWay) if (!response.headersSent) response.setHeader('connection', 'close')
  server.close()
  await once(server, 'close')
  await notifier.stop()
})

server.listen(port, '127.0.0.1', ready)
