import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { notifierPlugin } from 'carillon/fastify'
import Fastify from 'fastify'
import { startLoad } from './lib/load.ts'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier, floorOf, mails } from './lib/notifiers.ts'

/**
 * A batch of 10,000 over HTTP, beside JSON.parse of the same body plus a raw set-based insert of the same rows into the
 * same tables and indexes.
 */

const ITEMS = 10_000
const FLOOR = 'JSON.parse and SQLite alone'

await withFolder(async (folder) => {
  const file = join(folder, 'notifier.db')
  const notifier = await acceptingNotifier(file, 'unlimited')
  const { secret } = await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })
  const messages = mails(ITEMS)
  await notifier.sendBatch(messages)
  const raw = await floorOf(file)
  const body = JSON.stringify({ notifications: messages })
  const app = Fastify()
  app.register(notifierPlugin(notifier, { https: 'allow-loopback' }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const load = startLoad()
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const request = { port, path: '/v1/notifications/batch', headers, body, connections: 1, requests: 1 }
  const rates = await compare(
    [
      {
        name: FLOOR,
        run: async () =>
          raw.insert((JSON.parse(body) as { notifications: unknown[] }).notifications.length, ITEMS),
      },
      { name: 'POST /v1/notifications/batch', run: async () => (await load.run(request)) * ITEMS },
    ],
    9,
  )
  load.stop()
  await app.close()
  raw.close()
  await notifier.stop()
  console.log(describeMachine())
  report(
    `Batches of 10,000 over HTTP (${(body.length / 2 ** 20).toFixed(1)} MiB)`,
    'notifications',
    rates,
    FLOOR,
  )
  console.log(
    `Largest resident memory of the process: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`,
  )
})
