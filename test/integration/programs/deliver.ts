// A process that accepts and delivers until it is killed. It says on standard output what it has promised:
// "accepted <id>" after `send` resolved; the hand-overs are lines of a file.
// Usage: node deliver.ts <options as JSON>
import { appendFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface DeliverOptions {
  /** A SQLite file; or {@link place}. */
  readonly database?: string
  readonly location?: StorageLocation
  readonly handOvers: string
  /** How many senders run side by side; 0: only deliver. */
  readonly senders: number
  /** How many each of them sends. Default: no end. */
  readonly sends?: number
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly maxConcurrent?: number
  /** Attempts of one message, the first included. */
  readonly maxAttempts?: number
  /** Milliseconds that the provider takes. */
  readonly slowMs?: number
}

const options: DeliverOptions = JSON.parse(process.argv[2] ?? '')
// A process that is killed leaves nothing to the next one by itself.
flushCompileCache()

function say(line: string): void {
  // One write to a pipe, at once: a line that was written is not lost by a kill.
  process.stdout.write(`${line}\n`)
}

const channel: Provider = {
  name: 'file',
  timeoutMs: options.timeoutMs,
  maxConcurrent: options.maxConcurrent ?? 20,
  retry: { kind: 'exponential', maxAttempts: options.maxAttempts ?? 8, baseMs: 100, capMs: 1_000 },
  async send(message, { notificationId, attempt }) {
    if (message.body === 'poison') process.exit(13)
    if (message.body === 'throw later') setImmediate(() => throwPoison())
    if (message.body === 'reject later') void Promise.reject(new Error('poison'))
    appendFileSync(options.handOvers, `${notificationId} ${attempt} ${process.pid}\n`)
    if (options.slowMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.slowMs))
    return { kind: 'accepted', providerMessageId: `${notificationId}.${attempt}` }
  },
}

function throwPoison(): never {
  throw new Error('poison')
}

const notifier = createNotifier({
  channels: { email: channel },
  storage: openStorage(options.location ?? { sqlite: options.database ?? '' }),
  delivery: { leaseMs: options.leaseMs, pollMs: 50 },
})
notifier.on('error', (error) => say(`error ${error.message}`))
await notifier.start()

process.once('SIGTERM', () => {
  void notifier.stop().then(() => say('stopped'))
})
say('started')

async function keepSending(sender: number): Promise<void> {
  for (let count = 0; count < (options.sends ?? Infinity); count += 1) {
    try {
      const { id } = await notifier.send({
        channel: 'email',
        to: 'ada@example.com',
        body: `${sender}.${count}`,
      })
      say(`accepted ${id}`)
    } catch (error) {
      say(`refused ${error instanceof Error ? error.message : String(error)}`)
      return
    }
    // Delivery is to have a chance of keeping up.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
for (let sender = 0; sender < options.senders; sender += 1) void keepSending(sender)
