// A process that serves the API and delivers, until SIGTERM drains it; a second SIGTERM hurries it.
// It says "key <secret>", "listening <port>", "unhandled <what>" and "stopped".
// Usage: node api.ts <options as JSON>
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handleNodeRequest } from '../../../adapters/http/node-request.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { serve } from '../../../src/rest-api.ts'
import { httpProvider } from '../../support/faults/http-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface ApiOptions {
  readonly location: StorageLocation
  /** Where the provider listens. */
  readonly port: number
}

const { location, port }: ApiOptions = JSON.parse(process.argv[2] ?? '')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
process.on('unhandledRejection', (reason) => say(`unhandled ${reason}`))
process.on('uncaughtException', (error) => say(`unhandled ${error}`))

const notifier = createNotifier({
  channels: { email: httpProvider({ port, timeoutMs: 20_000 }) },
  storage: openStorage(location),
})
notifier.on('error', (error) => say(`error ${error.message}`))
await notifier.start()
const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Full Access' })
const api = serve(notifier, { https: 'allow-loopback' })
const server = createServer((req, res) => void handleNodeRequest(api, req, res))
server.listen(0, '127.0.0.1', () => {
  say(`key ${secret}`)
  say(`listening ${(server.address() as AddressInfo).port}`)
})

let told = 0
process.on('SIGTERM', () => {
  told += 1
  server.close()
  void notifier.stop({ timeoutMs: told === 1 ? 60_000 : 1 }).then(() => {
    if (told > 0) say('stopped')
    server.closeAllConnections()
  })
})
