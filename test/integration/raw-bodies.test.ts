import type { IncomingMessage, RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import Koa from 'koa'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { notifierRouter } from '../../adapters/http/express.ts'
import { notifierPlugin } from '../../adapters/http/fastify.ts'
import { notifierMiddleware } from '../../adapters/http/koa.ts'
import { notifierHandler } from '../../adapters/http/node.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { EXPRESS } from '../support/express-host.ts'
import { faultLogger } from '../support/fault-logger.ts'
import { call, codeOf } from '../support/http-client.ts'
import { serve, serveFastify } from '../support/serve.ts'

const require = createRequire(import.meta.url)
const bodyParser = require('koa-bodyparser') as () => Koa.Middleware
const Koa2 = require('koa2') as typeof Koa
const http = { https: 'allow-loopback' } as const

let notifier: Notifier
let authorization: string
beforeEach(async () => {
  notifier = createNotifier({
    logger: faultLogger([]),
    channels: { email: { name: 'mail', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  authorization = `Bearer ${(await notifier.apiKeys.create({ name: 'test', permission: 'Write' })).secret}`
})

type Start = () => Promise<number>

async function fastify(read: (raw: IncomingMessage) => Promise<{ rawBody?: unknown }>): Promise<number> {
  const app = Fastify()
  app.addHook('onRequest', async (request) => Object.assign(request, await read(request.raw)))
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => done(null))
  app.register(notifierPlugin(notifier, http))
  return serveFastify(app)
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}

/** As a middleware of an application reads a body. */
function reading(left: (bytes: Buffer) => object): RequestListener {
  const handle = notifierHandler(notifier, http)
  return (req, res) => void bytesOf(req).then((bytes) => handle(Object.assign(req, left(bytes)), res))
}

function koa(Framework: typeof Koa): Start {
  return () => serve(new Framework().use(bodyParser()).use(notifierMiddleware(notifier, http)).callback())
}

const keeping: readonly (readonly [name: string, start: Start])[] = [
  ...EXPRESS.map(([name, express]): [string, Start] => [
    `${name}, express.json({ verify }) sets rawBody`,
    () => {
      const verify = (req: IncomingMessage, _res: unknown, rawBody: Buffer) => Object.assign(req, { rawBody })
      return serve(express().use(express.json({ verify }), notifierRouter(notifier, http)))
    },
  ]),
  ['Koa 2, koa-bodyparser', koa(Koa2)],
  ['Koa 3, koa-bodyparser', koa(Koa)],
  ['Fastify, parsers of the application', () => fastify(async () => ({}))],
  ['Fastify, a hook that sets rawBody', () => fastify(async (raw) => ({ rawBody: await bytesOf(raw) }))],
  [
    'node:http, a host that sets body and rawBody',
    () => serve(reading((bytes) => ({ body: JSON.parse(String(bytes)), rawBody: bytes }))),
  ],
  [
    'node:http, a host that sets rawBody as text',
    () => serve(reading((bytes) => ({ rawBody: String(bytes) }))),
  ],
]

const losing: readonly (readonly [name: string, start: Start])[] = [
  ...EXPRESS.map(([name, express]): [string, Start] => [
    `${name}, express.json()`,
    () => serve(express().use(express.json(), notifierRouter(notifier, http))),
  ]),
  [
    'Fastify, a hook that reads',
    () =>
      fastify(async (raw) => {
        await bytesOf(raw)
        return {}
      }),
  ],
  [
    'node:http, a host that sets body',
    () => serve(reading((bytes) => ({ body: JSON.parse(String(bytes)) }))),
  ],
]

/** What a parser leaves could not restore these spaces. */
const file = '{ "a":  1 }'

describe('a body that is needed as it came', () => {
  async function upload(port: number) {
    const headers = { authorization, 'content-type': 'application/json' }
    return call(port, { method: 'POST', path: '/v1/attachments?filename=a.json', headers, body: file })
  }

  it.each(keeping)('is there behind %s', async (_name, start) => {
    const answer = await upload(await start())
    expect([answer.status, answer.json?.size]).toEqual([201, file.length])
  })

  it.each(losing)('is an error that says what to do behind %s', async (_name, start) => {
    const answer = await upload(await start())
    expect([answer.status, codeOf(answer)]).toEqual([500, 'body_already_read'])
    expect(answer.text).toContain('Mount Carillon before the parser')
  })
})
