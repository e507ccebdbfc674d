import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { sqliteStorage } from 'carillon/sqlite'
import { Pool } from 'undici'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'
import { type Sink, startSink } from './lib/sink.ts'

/**
 * Webhook events: each delivery announces one, which is stored, signed and posted, its answer logged. The deliveries
 * themselves are part of what is measured. Beside loops that post as much to the same receiver and store nothing: one on
 * node:http, the floor, and one on the client that Carillon posts with.
 */

const ORGANIZATIONS = 20
const EVENTS_EACH = 100
const EVENTS = ORGANIZATIONS * EVENTS_EACH
/** An endpoint has at most five requests under way: 20 endpoints fill the hundred of a process. */
const CONCURRENT = 5 * ORGANIZATIONS
const ROUNDS = 3

async function startNotifier(folder: string, { port }: Sink): Promise<Notifier> {
  const notifier = createNotifier({
    storage: sqliteStorage({ file: join(folder, 'notifier.db') }),
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
  await notifier.start()
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const { id } = await notifier.organizations.create({ name: `Organization ${index}` })
    organizations.push(id)
    await notifier.webhooks.create(
      { url: `http://127.0.0.1:${port}/${index}`, events: ['notification.sent'] },
      { organizationId: id },
    )
  }
  return notifier
}

const organizations: string[] = []
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
  const notifier = await startNotifier(folder, sink)
  try {
    const rates = await compare(
      [
        { name: `node:http, ${CONCURRENT} connections`, run: () => postAll(post) },
        { name: `undici, ${CONCURRENT} connections`, run: () => postAll(dispatch) },
        {
          name: `Carillon, ${ORGANIZATIONS} endpoints`,
          async run() {
            const received = sink.expect(EVENTS)
            for (const organizationId of organizations)
              await notifier.sendBatch(mails(EVENTS_EACH), { organizationId })
            await received
            return EVENTS
          },
        },
      ],
      ROUNDS,
    )
    console.log(describeMachine())
    report('Webhook events', 'events', rates, `node:http, ${CONCURRENT} connections`)
  } finally {
    await notifier.stop()
    agent.destroy()
    await pool.destroy()
    sink.stop()
  }
})
