// A process that serves the API over a database, and says "listening <port>". With `diesAfter`, the first commit of that
// kind ends it at once: what was accepted is on disk and the answer never leaves. On SIGUSR2 it says "peak <bytes>": the
// most that its buffers held since it was started.
// Usage: node serve.ts <options as JSON>
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handleNodeRequest } from '../../../adapters/http/node-request.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { serve as restApi } from '../../../src/rest-api.ts'

export interface ServeOptions {
  readonly database: string
  readonly diesAfter?: 'accept'
}

const options: ServeOptions = JSON.parse(process.argv[2] ?? '')
const stored = sqlite({ file: options.database })
const storage: Storage = options.diesAfter === undefined ? stored : { ...stored, accept: acceptAndDie }

async function acceptAndDie(requests: Parameters<Storage['accept']>[0]): ReturnType<Storage['accept']> {
  const answers = await stored.accept(requests)
  process.kill(process.pid, 'SIGKILL')
  return answers
}

const notifier = createNotifier({
  channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
  storage,
})
await notifier.start({ deliver: false })
const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Full Access' })
const api = restApi(notifier, { https: 'allow-loopback' })
const server = createServer((req, res) => {
  if (!handleNodeRequest(api, req, res)) res.writeHead(404).end()
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`key ${secret}\nlistening ${(server.address() as AddressInfo).port}\n`)
})

let peak = 0
function look(): void {
  peak = Math.max(peak, process.memoryUsage().arrayBuffers)
}
setInterval(look, 1)
process.on('SIGUSR2', () => {
  look()
  process.stdout.write(`peak ${peak}\n`)
})
