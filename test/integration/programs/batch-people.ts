// A process that sends batches to people, and says "batch <heap in bytes> <accepted>" after each, and at the end
// "asked <most ids of a call> <ids in all>".
// Needs --expose-gc. Usage: node --expose-gc batch-people.ts <options as JSON>
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'

export interface BatchPeopleOptions {
  readonly database: string
  readonly batches: number
  readonly size: number
}

const { database, batches, size }: BatchPeopleOptions = JSON.parse(process.argv[2] ?? '')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
let most = 0
let all = 0

const notifier = createNotifier({
  channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
  storage: sqlite({ file: database, synchronous: 'normal' }),
  recipients: {
    resolve(ids) {
      most = Math.max(most, ids.length)
      all += ids.length
      const person = (id: string) => ({ channels: { email: `${id}@example.com` }, locale: 'de' })
      return new Map(ids.map((id) => [id, person(id)]))
    },
  },
})
await notifier.start({ deliver: false })
for (let batch = 0; batch < batches; batch += 1) {
  const { accepted } = await notifier.sendBatch(
    Array.from({ length: size }, (_, index) => ({
      channel: 'email' as const,
      recipient: `p${batch * size + index}`,
      body: 'Hello',
    })),
  )
  // What was just answered may live for one more turn.
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc?.()
  say(`batch ${process.memoryUsage().heapUsed} ${accepted}`)
}
say(`asked ${most} ${all}`)
await notifier.stop()
