// A process that does the same work in equal phases, and says after each "phase <JSON>": what it holds when all is done.
// Needs --expose-gc. Usage: node --expose-gc soak.ts <options as JSON>
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { servedNotifier } from '../../../src/served-notifier.ts'
import { httpProvider } from '../../support/faults/http-provider.ts'
import { unfinished } from '../../support/unfinished.ts'

export interface SoakOptions {
  readonly database: string
  readonly phases: number
  /** Notifications of one phase. */
  readonly count: number
}

/** What a process holds. */
export interface Held {
  readonly heap: number
  readonly external: number
  /** Of sockets, timers and alike. */
  readonly resources: number
  /** Of the process; -1 where the system does not tell. */
  readonly descriptors: number
  readonly delivered: number
  readonly posted: number
}

const { database, phases, count }: SoakOptions = JSON.parse(process.argv[2] ?? '')
const BATCH = 50
let [asked, posted] = [0, 0]

/** A provider that refuses every tenth message once, and an endpoint; both in this process, which so holds both ends. */
const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    asked += 1
    const id = `${request.headers['idempotency-key']}.${request.headers['x-attempt']}`
    response.writeHead(asked % 10 === 0 ? 422 : 200).end(id)
  })
})
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    posted += 1
    response.writeHead(200).end()
  })
})

function listen(server: typeof provider): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )
}

const storage = sqlite({ file: database, synchronous: 'normal' })
const notifier = createNotifier({
  channels: { email: httpProvider({ port: await listen(provider) }) },
  storage,
  webhooks: { allowHttp: true, allow: ['127.0.0.0/8'] },
})
await notifier.start()
await notifier.webhooks.create({ url: `http://127.0.0.1:${await listen(receiver)}/` })
await notifier.templates.create({ name: 'soak', channel: 'email', subject: 'Hi', body: 'Hello {{name}}' })

async function drained(): Promise<void> {
  for (;;) {
    const { lanes } = await unfinished(storage)
    if (lanes.every(({ due, scheduled, leased }) => due + scheduled + leased === 0)) return
    await pause(20)
  }
}

async function work(phase: number): Promise<void> {
  for (let done = 0; done < count; done += BATCH) {
    const sends = Array.from({ length: BATCH }, (_, index) => {
      const name = `${phase} ${done + index}`
      const message = { to: 'ada@example.com', template: 'soak', variables: { name } }
      return notifier.send(message, { idempotencyKey: `${phase}-${done + index}` })
    })
    const ids = (await Promise.all(sends)).map(({ id }) => id)
    await notifier.sendBatch([{ channel: 'email', to: 'nobody', body: 'x' }])
    await Promise.all([drained(), notifier.notifications.get(ids[0] ?? ''), notifier.notifications.list()])
    const receipts = ids.map((id) => ({
      dedupeKey: id,
      notificationId: id,
      fact: { type: 'delivered', providerMessageId: `${id}.1` },
    }))
    const body = new TextEncoder().encode(JSON.stringify(receipts))
    const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body }
    await servedNotifier(notifier).receipts.take({ channel: 'email', provider: 'http' }, arrival)
    await notifier.deadLetters.retry({ filter: {} })
    await drained()
  }
}

function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return -1
  }
}

/** After everything that nobody holds is gone. */
async function held(): Promise<Held> {
  for (let turn = 0; turn < 4; turn += 1) {
    await pause(50)
    globalThis.gc?.()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo().length
  return {
    heap: heapUsed,
    external: arrayBuffers,
    resources,
    descriptors: descriptors(),
    delivered: asked,
    posted,
  }
}

for (let phase = 0; phase < phases; phase += 1) {
  await work(phase)
  process.stdout.write(`phase ${JSON.stringify(await held())}\n`)
}
await notifier.stop()
for (const server of [provider, receiver]) {
  server.close()
  server.closeAllConnections()
}
