import { copyFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { sqliteStorage } from 'carillon/sqlite'
import { Pool } from 'undici'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'
import { type Sink, startSink } from './lib/sink.ts'

/**
 * A backlog through a provider that does nothing, where each delivery announces one webhook event: stored, signed and
 * posted, its answer logged. Beside loops that post as much to the same receiver and store nothing: one on node:http, the
 * floor, and one on the client that Carillon posts with.
 */

const ORGANIZATIONS = 20
const EVENTS_EACH = 500
const EVENTS = ORGANIZATIONS * EVENTS_EACH
/** An endpoint has at most five requests under way: 20 endpoints fill the hundred of a process. */
const CONCURRENT = 5 * ORGANIZATIONS
const ROUNDS = 3

function createDelivering(file: string): Notifier {
  return createNotifier({
    storage: sqliteStorage({ file }),
    channels: {
      email: {
        name: 'none',
        channel: 'email',
        maxConcurrent: CONCURRENT,
        send: async () => ({ kind: 'accepted' }),
      },
    },
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
  })
}

/** A file in which mails of all organizations wait to be delivered; each run gets a copy. */
async function writeBacklog(file: string, { port }: Sink): Promise<void> {
  const notifier = createDelivering(file)
  await notifier.start({ deliver: false })
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const { id: organizationId } = await notifier.organizations.create({ name: `Organization ${index}` })
    await notifier.webhooks.create(
      { url: `http://127.0.0.1:${port}/${index}`, events: ['notification.sent'] },
      { organizationId },
    )
    await notifier.sendBatch(mails(EVENTS_EACH), { organizationId })
  }
  await notifier.stop()
}

const sink = await startSink('http')
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT })
const payload = JSON.stringify({
  event: 'notification.sent',
  data: {
    id: 'notif_17952659221930000841517644962',
    channel: 'email',
    to: 'customer-1@example.com',
    organizationId: 'org_00000000000000000000',
    status: 'sent',
    timestamp: new Date().toISOString(),
    sequence: 2,
  },
})

function post(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    const sent = request({ port: sink.port, host: '127.0.0.1', method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

const pool = new Pool(`http://127.0.0.1:${sink.port}`, { connections: CONCURRENT })

function dispatch(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    pool.dispatch(
      { path: '/', method: 'POST', headers, body: payload },
      { onRequestStart() {}, onResponseEnd: () => resolve(), onResponseError: (_, error) => reject(error) },
    )
  })
}

async function postAll(post: () => Promise<void>): Promise<number> {
  const received = sink.expect(EVENTS)
  let left = EVENTS
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      while (left > 0) {
        left -= 1
        await post()
      }
    }),
  )
  await received
  return EVENTS
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  await writeBacklog(backlog, sink)
  const file = join(folder, 'run.db')
  let notifier: Notifier | undefined
  try {
    const rates = await compare(
      [
        { name: `node:http, ${CONCURRENT} connections`, run: () => postAll(post) },
        { name: `undici, ${CONCURRENT} connections`, run: () => postAll(dispatch) },
        {
          name: `Carillon, ${ORGANIZATIONS} endpoints`,
          async prepare() {
            await notifier?.stop()
            copyFileSync(backlog, file)
            notifier = createDelivering(file)
          },
          async run() {
            const received = sink.expect(EVENTS)
            await notifier?.start()
            await received
            return EVENTS
          },
        },
      ],
      ROUNDS,
    )
    console.log(describeMachine())
    report('Deliveries, each with a webhook event', 'events', rates, `node:http, ${CONCURRENT} connections`)
  } finally {
    await notifier?.stop()
    agent.destroy()
    await pool.destroy()
    sink.stop()
  }
})
