import 'reflect-metadata'
import { createRequire } from 'node:module'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import Fastify from 'fastify'
import Koa from 'koa'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { EXPRESS } from '../support/express-host.ts'
import { type Answer, call } from '../support/http-client.ts'
import { serve, serveFastify } from '../support/serve.ts'

const Koa2 = createRequire(import.meta.url)('koa2') as typeof Koa

type Send = () => Promise<unknown>
/** Starts an application without an error handler, whose `GET /` sends. */
type Start = (send: Send) => Promise<number>

function koa(Framework: typeof Koa): Start {
  return (send) => {
    const app = new Framework()
    app.silent = true
    app.use(send)
    return serve(app.callback())
  }
}

/** Without decorators, which Node does not run. */
function nest(adapter?: () => FastifyAdapter): Start {
  return async (send) => {
    class Sending {
      run(): Promise<unknown> {
        return send()
      }
    }
    Controller()(Sending)
    Get()(Sending.prototype, 'run', Object.getOwnPropertyDescriptor(Sending.prototype, 'run') ?? {})
    class App {}
    Module({ controllers: [Sending] })(App)
    const app = adapter
      ? await NestFactory.create(App, adapter(), { logger: false })
      : await NestFactory.create(App, { logger: false })
    onTestFinished(() => app.close())
    await app.listen(0, '127.0.0.1')
    return Number(new URL(await app.getUrl()).port)
  }
}

const frameworks: readonly (readonly [name: string, start: Start, shows: 'nothing' | 'refusals' | 'all'])[] =
  [
    ...EXPRESS.map(([name, express]): [string, Start, 'nothing'] => [
      name,
      (send) => {
        const app = express().set('env', 'production')
        app.get('/', (_req, _res, next) => void send().catch(next))
        return serve(app)
      },
      'nothing',
    ]),
    [
      'Fastify 5',
      async (send) => {
        const app = Fastify()
        app.get('/', send)
        return serveFastify(app)
      },
      'all',
    ],
    ['Koa 2', koa(Koa2), 'refusals'],
    ['Koa 3', koa(Koa), 'refusals'],
    ['NestJS on Express', nest(), 'refusals'],
    ['NestJS on Fastify', nest(() => new FastifyAdapter()), 'refusals'],
  ]

describe.each(frameworks)('%s, without an error handler', (_name, start, shows) => {
  async function answerTo(send: (notifier: Notifier) => Promise<unknown>): Promise<Answer> {
    const notifier = createNotifier({
      channels: { email: { name: 'mail', send: async () => ({ kind: 'accepted' }) } },
    })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    return call(await start(() => send(notifier)), { path: '/' })
  }

  // Express prints what it answers.
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

  it.each([
    ['invalid_email', 422, { channel: 'email', to: 'nobody', body: 'Hi' }, 'not a valid e-mail address'],
    ['template_not_found', 422, { to: 'ada@example.com', template: 'absent' }, 'absent'],
    ['invalid_parameter', 400, { channel: 'email', to: 'ada@example.com', body: 5 }, '\\"body\\"'],
  ] as const)('answers %s with %i', async (_code, status, message, words) => {
    const { status: given, text } = await answerTo((notifier) => notifier.send(message as never))
    expect(given).toBe(status)
    if (shows === 'nothing') expect(text).not.toContain(words)
    else expect(text).toContain(text.startsWith('{') ? words : words.replaceAll('\\', ''))
  })

  it('answers a fault of the operator with 503, and hides it where it can', async () => {
    const { status, text } = await answerTo(async (notifier) => {
      await notifier.stop()
      await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    })
    expect(status).toBe(503)
    if (shows === 'all') expect(text).toContain('has stopped')
    else expect(text).not.toContain('has stopped')
  })
})
