import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Notifier } from 'carillon'
import { notifierPlugin } from 'carillon/fastify'
import Fastify from 'fastify'
import { REQUESTS as REQUEST_LIMIT } from '../src/core/limits/route-limits.ts'
import { servedNotifier } from '../src/served-notifier.ts'
import { startLoad } from './lib/load.ts'
import { describeMachine, median, withFolder } from './lib/measure.ts'
import { acceptingNotifier } from './lib/notifiers.ts'

/**
 * Processor time of an accepted request by part. Each part runs alone, in sets of as many calls as there are
 * connections. The rest of the total belongs to the framework, the sockets and the event loop.
 */

const CONNECTIONS = 50
const REQUESTS = 10_000
const ROUNDS = 5

const message = {
  channel: 'email' as const,
  to: 'ada@example.com',
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days. Have a good day!',
}
const text = JSON.stringify(message)
const bytes = Buffer.from(text)
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Processor time per call in microseconds, with concurrent calls. */
async function cost(one: () => unknown): Promise<number> {
  const rounds: number[] = []
  for (let round = -1; round < ROUNDS; round += 1) {
    const before = process.cpuUsage()
    for (let done = 0; done < REQUESTS; done += CONNECTIONS) {
      await Promise.all(Array.from({ length: CONNECTIONS }, one))
    }
    const { user, system } = process.cpuUsage(before)
    if (round >= 0) rounds.push((user + system) / REQUESTS)
  }
  return median(rounds)
}

function parts(notifier: Notifier, secret: string): Record<string, () => unknown> {
  const answer = {
    id: 'notif_17952659221930000841517644962',
    status: 'queued',
    channel: 'email',
    to: message.to,
  }
  return {
    'parse the body': () => JSON.parse(decoder.decode(bytes)),
    'authenticate (one look-up a turn)': () => notifier.apiKeys.verify(secret),
    'limits (window, pause, slot)': async () => {
      const { release } = await servedNotifier(notifier).limits.admit(
        { organizationId: 'org_default' },
        REQUEST_LIMIT,
      )
      await release()
    },
    'validate, accept, share of the commit': () => notifier.send(message),
    'write the answer': () => JSON.stringify({ ...answer, createdAt: new Date().toISOString() }),
  }
}

await withFolder(async (folder) => {
  const notifier = await acceptingNotifier(join(folder, 'notifier.db'), 'limited')
  const { secret } = await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })
  const app = Fastify()
  app.register(notifierPlugin(notifier, { https: 'allow-loopback' }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const load = startLoad()
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const wholes: number[] = []
  for (let round = -1; round < ROUNDS; round += 1) {
    const before = process.cpuUsage()
    const request = {
      port,
      path: '/v1/notify',
      headers,
      body: text,
      connections: CONNECTIONS,
      requests: REQUESTS,
    }
    await load.run(request)
    const { user, system } = process.cpuUsage(before)
    if (round >= 0) wholes.push((user + system) / REQUESTS)
  }
  const rows: { part: string; µs: string; share: string }[] = []
  const whole = median(wholes)
  let rest = whole
  for (const [part, one] of Object.entries(parts(notifier, secret))) {
    const microseconds = await cost(one)
    rest -= microseconds
    rows.push({ part, µs: microseconds.toFixed(1), share: `${((microseconds / whole) * 100).toFixed(0)} %` })
  }
  rows.push({
    part: 'Fastify, node:http, sockets, the loop',
    µs: rest.toFixed(1),
    share: `${((rest / whole) * 100).toFixed(0)} %`,
  })
  rows.push({ part: 'the whole request', µs: whole.toFixed(1), share: '100 %' })
  load.stop()
  await app.close()
  await notifier.stop()
  console.log(describeMachine())
  console.table(rows)
})
