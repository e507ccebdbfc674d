import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { sqliteStorage } from 'carillon/sqlite'
import express from 'express'
import { startLoad } from './lib/load.ts'
import { compare, describeMachine, median, report, withFolder } from './lib/measure.ts'

/**
 * Accepts over HTTP: authenticated, validated, in a durable commit before the answer. Beside them, in the same
 * process and run, a bare Express route that parses the same JSON and stores nothing.
 */

const CONNECTIONS = 50
const REQUESTS = 20_000
const PATH = '/v1/notify'
const BARE = 'Express with express.json(), stores nothing'
const OURS = 'Carillon through Express, SQLite, full sync'

const body = JSON.stringify({
  channel: 'email',
  to: 'ada@example.com',
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days. Have a good day!',
  variables: { order: '2026-11-0815', carrier: 'Pigeon', days: 2 },
})

async function listen(app: express.Express): Promise<{ server: Server; port: number }> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

function bareApplication(): express.Express {
  const app = express()
  app.post(PATH, express.json(), (req, res) => {
    const { channel, to } = req.body
    const createdAt = new Date().toISOString()
    res
      .status(201)
      .json({ id: 'notif_17952659221930000841517644962', status: 'queued', channel, to, createdAt })
  })
  return app
}

function carillonApplication(notifier: Notifier): express.Express {
  const app = express()
  app.use(notifierRouter(notifier, { https: 'allow-loopback' }))
  return app
}

await withFolder(async (folder) => {
  const notifier = createNotifier({
    storage: sqliteStorage({ file: join(folder, 'notifier.db') }),
    channels: { email: { name: 'none', channel: 'email', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  const { secret } = await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })
  const bare = await listen(bareApplication())
  const carillon = await listen(carillonApplication(notifier))
  const load = startLoad()
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json', Accept: '*/*' }
  const cpu = new Map<string, number[]>()
  const post = (name: string, port: number) => async () => {
    const before = process.cpuUsage()
    const units = await load.run({
      port,
      path: PATH,
      headers,
      body,
      connections: CONNECTIONS,
      requests: REQUESTS,
    })
    const { user, system } = process.cpuUsage(before)
    cpu.set(name, [...(cpu.get(name) ?? []), (user + system) / units])
    return units
  }
  try {
    const rates = await compare([
      { name: BARE, run: post(BARE, bare.port) },
      { name: OURS, run: post(OURS, carillon.port) },
    ])
    console.log(describeMachine())
    report(`HTTP accepts (${CONNECTIONS} connections)`, 'requests', rates, BARE)
    // The load generator shares the machine: where it is the bottleneck, only this tells the servers apart.
    for (const [name, perRequest] of cpu) {
      console.log(`${median(perRequest.slice(1)).toFixed(0)} µs of processor time a request: ${name}`)
    }
  } finally {
    load.stop()
    bare.server.close()
    carillon.server.close()
    await notifier.stop()
  }
})
