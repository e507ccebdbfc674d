import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Notifier } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { notifierPlugin } from 'carillon/fastify'
import { notifierMiddleware } from 'carillon/koa'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import Koa from 'koa'
import { startLoad } from './lib/load.ts'
import { compare, describeMachine, median, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier } from './lib/notifiers.ts'
import { type Listening, listen } from './lib/servers.ts'
import { fastifySqliteRival } from './rivals/fastify-sqlite.ts'

/**
 * Accepts over HTTP: authenticated, limited, validated and durably committed before the answer. Beside each framework,
 * in the same process and run: the same framework with a bare route that parses the same JSON and stores nothing, and a
 * typical hand-written stack.
 */

const CONNECTIONS = 50
const REQUESTS = 10_000
const PATH = '/v1/notify'
const HTTPS = { https: 'allow-loopback' } as const

const body = JSON.stringify({
  channel: 'email',
  to: 'ada@example.com',
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days. Have a good day!',
  variables: { order: '2026-11-0815', carrier: 'Pigeon', days: 2 },
})

const answerTo = ({ channel, to }: { channel: string; to: string }): object => ({
  id: 'notif_17952659221930000841517644962',
  status: 'queued',
  channel,
  to,
  createdAt: new Date().toISOString(),
})

function bareExpress(): Promise<Listening> {
  const app = express()
  app.post(PATH, express.json(), (req, res) => {
    res.status(201).json(answerTo(req.body))
  })
  return listen(app)
}

/** koa-bodyparser has no types. */
const koaJson = createRequire(import.meta.url)('koa-bodyparser') as () => Koa.Middleware

function bareKoa(): Promise<Listening> {
  const app = new Koa()
  app.use(koaJson())
  app.use((ctx) => {
    ctx.status = 201
    ctx.body = answerTo((ctx.request as unknown as { body: { channel: string; to: string } }).body)
  })
  return listen(app.callback())
}

async function started(app: FastifyInstance): Promise<Listening> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { port, close: () => app.close() }
}

function bareFastify(): Promise<Listening> {
  const app = Fastify()
  app.post(PATH, async (request, reply) =>
    reply.code(201).send(answerTo(request.body as { channel: string; to: string })),
  )
  return started(app)
}

function onExpress(notifier: Notifier): Promise<Listening> {
  return listen(express().use(notifierRouter(notifier, HTTPS)))
}

function onKoa(notifier: Notifier): Promise<Listening> {
  return listen(new Koa().use(notifierMiddleware(notifier, HTTPS)).callback())
}

function onFastify(notifier: Notifier): Promise<Listening> {
  const app = Fastify()
  app.register(notifierPlugin(notifier, HTTPS))
  return started(app)
}

await withFolder(async (folder) => {
  const notifier = await acceptingNotifier(join(folder, 'notifier.db'), 'limited')
  const { secret } = await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })
  const servers: Record<string, Listening> = {
    'Express, bare': await bareExpress(),
    'Express, Carillon': await onExpress(notifier),
    'Koa, bare': await bareKoa(),
    'Koa, Carillon': await onKoa(notifier),
    'Fastify, bare': await bareFastify(),
    'Fastify, Carillon': await onFastify(notifier),
    'Fastify, own stack': await started(fastifySqliteRival(join(folder, 'rival.db'), secret)),
  }
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
    const rates = await compare(
      Object.entries(servers).map(([name, { port }]) => ({ name, run: post(name, port) })),
    )
    console.log(describeMachine())
    for (const framework of ['Express', 'Koa', 'Fastify']) {
      const own = rates.filter(({ name }) => name.startsWith(framework))
      report(`HTTP accepts (${CONNECTIONS} connections)`, 'requests', own, `${framework}, bare`)
    }
    const onFastifyRates = rates.filter(({ name }) => /^Fastify, (?:Carillon|own)/.test(name))
    report('Beside the own stack', 'requests', onFastifyRates, 'Fastify, own stack')
    // The load generator shares the machine. If it is the bottleneck, only processor time distinguishes the servers.
    for (const [name, perRequest] of cpu) {
      console.log(
        `${median(perRequest.slice(1)).toFixed(0).padStart(5)} µs of processor time a request: ${name}`,
      )
    }
  } finally {
    load.stop()
    for (const server of Object.values(servers)) await server.close()
    await notifier.stop()
  }
})
