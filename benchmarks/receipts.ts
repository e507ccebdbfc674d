import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createNotifier, type Notifier, type Provider } from 'carillon'
import { notifierPlugin } from 'carillon/fastify'
import { sqlite } from 'carillon/sqlite'
import Fastify from 'fastify'
import { startLoad } from './lib/load.ts'
import { compare, describeMachine, median, report as show, withFolder } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'

/**
 * Accepts over HTTP during a storm of receipts: the same number of connections posts signed receipts without pause,
 * each a new one about a sent notification. Beside the same accepts alone and the same receipts alone.
 */

const CONNECTIONS = 50
const REQUESTS = 10_000
const SENT = 10_000
const SECRET = 'benchmark'
const REPORT = JSON.stringify({ event: 'delivered', timestamp: 1_795_276_017, reason: '250 2.0.0 OK' })
const SIGNATURE = createHmac('sha256', SECRET).update(REPORT).digest()

const message = JSON.stringify({
  channel: 'email',
  to: 'ada@example.com',
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days. Have a good day!',
})

/** A provider with signed reports. Every report is new. */
function reporting(sent: readonly string[]): Provider {
  let reports = 0
  return {
    name: 'reporter',
    maxConcurrent: 500,
    send: async (_message, { notificationId }) => ({ kind: 'accepted', providerMessageId: notificationId }),
    async parseReceipts({ body }) {
      const signature = createHmac('sha256', SECRET).update(body).digest()
      if (!timingSafeEqual(signature, SIGNATURE)) {
        return { kind: 'refused', why: 'signature', message: 'Not signed.' }
      }
      JSON.parse(new TextDecoder().decode(body))
      reports += 1
      const providerMessageId = sent[reports % sent.length] ?? ''
      return {
        kind: 'receipts',
        receipts: [{ dedupeKey: `report-${reports}`, fact: { type: 'delivered', providerMessageId } }],
      }
    },
  }
}

async function sendAll(notifier: Notifier, sent: string[]): Promise<void> {
  for (let count = 0; count < SENT; count += 10_000) {
    const { items } = await notifier.sendBatch(mails(10_000))
    for (const item of items) if ('id' in item) sent.push(item.id)
  }
  while ((await notifier.metrics()).backlog?.lanes.some(({ due, leased }) => due + leased > 0)) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

await withFolder(async (folder) => {
  const sent: string[] = []
  const file = join(folder, 'notifier.db')
  const first = createNotifier({ storage: sqlite({ file }), channels: { email: reporting(sent) } })
  await first.start()
  await sendAll(first, sent)
  await first.stop()

  const notifier = createNotifier({ storage: sqlite({ file }), channels: { email: reporting(sent) } })
  await notifier.start({ deliver: false })
  const { secret } = await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })
  const app = Fastify()
  app.register(notifierPlugin(notifier, { https: 'allow-loopback' }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const [sends, storm] = [startLoad(), startLoad()]
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const accept = () =>
    sends.run({
      port,
      path: '/v1/notify',
      headers,
      body: message,
      connections: CONNECTIONS,
      requests: REQUESTS,
    })
  const report = (requests: number) =>
    storm.run({
      port,
      path: '/receipts/email/reporter',
      headers: { 'Content-Type': 'application/json' },
      body: REPORT,
      connections: CONNECTIONS,
      requests,
    })
  const posted: number[] = []
  let raging: Promise<void> = Promise.resolve()

  async function acceptInStorm(): Promise<number> {
    let over = false
    let receipts = 0
    const began = performance.now()
    raging = (async () => {
      while (!over) {
        receipts += await report(500)
      }
    })()
    const units = await accept()
    posted.push(receipts / ((performance.now() - began) / 1000))
    over = true
    return units
  }

  try {
    const rates = await compare([
      { name: 'accepts alone', prepare: () => raging, run: accept },
      { name: 'accepts in a storm of receipts', run: acceptInStorm },
    ])
    await raging
    console.log(describeMachine())
    show('Accepts over HTTP', 'requests', rates, 'accepts alone')
    console.log(
      `Receipts verified and stored meanwhile: ${Math.round(median(posted)).toLocaleString('en')} a second`,
    )
    const alone = await compare([{ name: 'receipts alone', run: () => report(REQUESTS) }])
    show('Receipts over HTTP', 'requests', alone, 'receipts alone')
  } finally {
    sends.stop()
    storm.stop()
    await app.close()
    await notifier.stop()
  }
})
