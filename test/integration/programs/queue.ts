// A process that delivers through a queue engine until it is killed. It says "started" and "handed <id>".
// Usage: node queue.ts <place as JSON>
import { setTimeout as sleep } from 'node:timers/promises'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { openQueue, type QueuePlace } from '../../support/queue-place.ts'

const place: QueuePlace = JSON.parse(process.argv[2] ?? '')

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const channel: Provider = {
  name: 'recorder',
  timeoutMs: 1_000,
  maxConcurrent: 4,
  async send(_message, { notificationId }) {
    say(`handed ${notificationId}`)
    await sleep(200)
    return { kind: 'accepted', providerMessageId: notificationId }
  },
}

const notifier = createNotifier({
  channels: { email: channel },
  storage: postgres({ connectionString: place.url, schema: place.schema, maxConnections: 4 }),
  queue: openQueue(place.queue) ?? undefined,
  delivery: { leaseMs: 2_000 },
})
notifier.on('error', (error) => say(`error ${error.message}`))
await notifier.start()
say('started')
