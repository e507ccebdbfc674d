import { copyFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { type Contender, compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { mails, ROOMY } from './lib/notifiers.ts'
import { rawDelivery } from './lib/raw-delivery.ts'
import { rawEvents } from './lib/raw-events.ts'
import { type RawJobs, rawJobs } from './lib/raw-jobs.ts'
import { type Sink, startSink } from './lib/sink.ts'

/**
 * A backlog through a no-op provider in which each delivery publishes one webhook event: stored, signed, posted, and
 * its answer logged. Beside it, a loop on node:http that posts the same amount to the same receiver without storage, as
 * the floor, and the same rows written by hand around the same posts: the cost of durability without an engine,
 * signatures and a guard.
 *
 * Twenty organizations send concurrently, so their mails are interleaved. If each sends all its mails at once, taking
 * turns touches twenty places of the file in every commit; that is measured as well.
 */

const ORGANIZATIONS = 20
const EVENTS_EACH = 2_500
const EVENTS = ORGANIZATIONS * EVENTS_EACH
/** Mails that an organization sends in a row. */
const IN_TURNS = 5
/** An endpoint has at most ten concurrent requests, so 20 endpoints fill the two hundred of a process. */
const CONCURRENT = 10 * ORGANIZATIONS
const ROUNDS = 3
const FLOOR = `node:http, ${CONCURRENT} connections`
const BY_HAND = `SQLite and node:http by hand, ${CONCURRENT} a set`
const CARILLON = `Carillon, ${ORGANIZATIONS} endpoints`
const BY_ORGANIZATION = `${CARILLON}, one organization after the other`

function createDelivering(file: string): Notifier {
  return createNotifier({
    storage: sqlite({ file }),
    channels: {
      email: {
        name: 'none',
        channel: 'email',
        maxConcurrent: CONCURRENT,
        send: async () => ({ kind: 'accepted' }),
      },
    },
    plans: { free: ROOMY },
    webhooks: { allow: ['127.0.0.0/8'], allowHttp: true },
  })
}

/**
 * Creates a file with waiting mails of all organizations. Each run gets a copy.
 *
 * @param inTurns mails that an organization sends in a row
 */
async function writeBacklog(file: string, { port }: Sink, inTurns: number): Promise<void> {
  const notifier = createDelivering(file)
  await notifier.start({ deliver: false })
  const organizations: string[] = []
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const { id: organizationId } = await notifier.organizations.create({ name: `Organization ${index}` })
    // One host per endpoint, from 127.0.0.0/8, which Linux provides.
    const url = `http://127.0.0.${index + 1}:${port}/`
    await notifier.organization(organizationId).webhooks.create({ url, events: ['notification.sent'] })
    organizations.push(organizationId)
  }
  for (let sent = 0; sent < EVENTS_EACH; sent += inTurns) {
    for (const organizationId of organizations)
      await notifier.organization(organizationId).sendBatch(mails(inTurns))
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

function post(body = payload): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request({ port: sink.port, host: '127.0.0.1', method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function postAll(): Promise<number> {
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

/** Two alternating workers: one computes while the other's posts are pending. */
async function postByHand(delivered: string, jobs: RawJobs): Promise<number> {
  const received = sink.expect(EVENTS)
  const deliverSet = rawDelivery(delivered, jobs)
  const postSet = rawEvents(jobs, post)
  async function work(): Promise<void> {
    for (let set = deliverSet(CONCURRENT); set.count > 0; set = deliverSet(CONCURRENT)) {
      await postSet(set.events)
    }
  }
  await Promise.all([work(), work()])
  await received
  return EVENTS
}

async function deliverOnce(file: string): Promise<void> {
  const notifier = createDelivering(file)
  const received = sink.expect(EVENTS)
  await notifier.start()
  await received
  await notifier.stop()
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  await writeBacklog(backlog, sink, IN_TURNS)
  const byOrganization = join(folder, 'by-organization.db')
  await writeBacklog(byOrganization, sink, EVENTS_EACH)
  const delivered = join(folder, 'delivered.db')
  copyFileSync(backlog, delivered)
  await deliverOnce(delivered)
  const file = join(folder, 'run.db')
  const fileByHand = join(folder, 'by-hand.db')
  let notifier: Notifier | undefined
  let raw: RawJobs | undefined
  const delivering = (name: string, from: string): Contender => ({
    name,
    async prepare() {
      await notifier?.stop()
      copyFileSync(from, file)
      notifier = createDelivering(file)
    },
    async run() {
      const received = sink.expect(EVENTS)
      await notifier?.start()
      await received
      return EVENTS
    },
  })
  try {
    const rates = await compare(
      [
        { name: FLOOR, run: postAll },
        {
          name: BY_HAND,
          async prepare() {
            raw?.close()
            copyFileSync(backlog, fileByHand)
            raw = rawJobs(fileByHand)
          },
          run: async () => (raw === undefined ? 0 : postByHand(delivered, raw)),
        },
        delivering(CARILLON, backlog),
        delivering(BY_ORGANIZATION, byOrganization),
      ],
      ROUNDS,
    )
    console.log(describeMachine())
    report('Deliveries, each with a webhook event', 'events', rates, FLOOR)
    const durable = rates.filter(({ name }) => name === BY_HAND || name === CARILLON)
    report('The same, stored by both', 'events', durable, BY_HAND)
  } finally {
    await notifier?.stop()
    raw?.close()
    agent.destroy()
    sink.stop()
  }
})
