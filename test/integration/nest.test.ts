import 'reflect-metadata'
import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  type INestApplication,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleDestroy,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { notifierRouter } from '../../adapters/http/express.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import { createNotifier, isNotifierError, type Notifier, type Provider } from '../../src/index.ts'
import { type Answer, call, codeOf } from '../support/http-client.ts'

const SECRET = 'the key that this provider signs with'
const NOTIFIER = Symbol('NOTIFIER')
const http = { https: 'allow-loopback' } as const
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' } as const
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Takes its time with a mail, and believes receipts whose bytes are signed. */
class Reporter implements Provider {
  readonly name = 'reporter'
  readonly sent: string[] = []
  begun = 0

  async send({ to }: { readonly to: string }, { notificationId }: { readonly notificationId: string }) {
    this.begun += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
    this.sent.push(to)
    return { kind: 'accepted', providerMessageId: `m-${notificationId}` } as const
  }

  async parseReceipts({ body, headers }: { readonly body: Uint8Array; readonly headers: Headers }) {
    const given = Buffer.from(headers['x-signature'] ?? '', 'hex')
    const right = createHmac('sha256', SECRET).update(body).digest()
    if (given.length !== right.length || !timingSafeEqual(given, right)) {
      return { kind: 'refused', why: 'signature', message: 'These bytes are not signed.' } as const
    }
    return { kind: 'receipts', receipts: JSON.parse(new TextDecoder().decode(body)) } as const
  }
}

type Headers = Readonly<Record<string, string | undefined>>

type Create = (module: new (notifier: Notifier) => NestModule) => Promise<INestApplication>

const platforms: readonly (readonly [name: string, create: Create])[] = [
  ['Express', (module) => NestFactory.create(module, { logger: false })],
  ['Fastify', (module) => NestFactory.create(module, new FastifyAdapter(), { logger: false })],
]

/** The application of the guide, without decorators, which Node does not run. */
async function start(create: Create) {
  const provider = new Reporter()
  class Notifications implements NestModule, OnModuleDestroy {
    readonly #notifier: Notifier
    constructor(notifier: Notifier) {
      this.#notifier = notifier
    }
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(notifierRouter(this.#notifier, http)).forRoutes('in-a-module')
    }
    onModuleDestroy(): Promise<void> {
      return this.#notifier.stop()
    }
  }
  const useFactory = async (): Promise<Notifier> => {
    const notifier = createNotifier({ channels: { email: provider } })
    await notifier.start()
    return notifier
  }
  Inject(NOTIFIER)(Notifications, undefined, 0)
  Module({ providers: [{ provide: NOTIFIER, useFactory }], exports: [NOTIFIER] })(Notifications)

  const app = await create(Notifications)
  closers.push(() => app.close())
  const notifier = app.get<Notifier>(NOTIFIER)
  app.use('/notifications', notifierRouter(notifier, http))
  app.use('/dashboard', notifierRouter(dashboard(notifier), http))
  await app.listen(0, '127.0.0.1')
  return { app, provider, notifier, port: Number(new URL(await app.getUrl()).port) }
}

function report(port: number, id: string, mount: string): Promise<Answer> {
  // What a parser leaves could not restore these spaces.
  const body = `[ {"dedupeKey":"r1", "fact":{"type":"delivered","providerMessageId":"m-${id}"}} ]`
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const headers = { 'x-signature': signature, 'content-type': 'application/json' }
  return call(port, { method: 'POST', path: `${mount}/receipts/email/reporter`, headers, body })
}

describe.each(platforms)('NestJS on %s, with its own body parser', (_name, create) => {
  it('sends over REST, believes signed receipts and shows the dashboard', async () => {
    const { port, notifier } = await start(create)
    const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Write' })
    const headers = { authorization: `Bearer ${secret}` }
    const sent = await call(port, { method: 'POST', path: '/notifications/v1/notify', headers, body: mail })
    expect(sent.status).toBe(201)
    const id = String(sent.json?.id)
    const status = async (): Promise<string> => (await notifier.notifications.get(id)).status
    await expect.poll(status).toBe('sent')
    expect((await report(port, id, '/notifications')).status).toBe(200)
    expect(await status()).toBe('delivered')
    const page = await call(port, { path: '/dashboard/' })
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  })

  it('ends what it has begun when the application closes', async () => {
    const { app, provider, notifier } = await start(create)
    await notifier.send(mail)
    await expect.poll(() => provider.begun).toBe(1)
    await app.close()
    expect(provider.sent).toEqual(['ada@example.com'])
    await expect(notifier.send(mail)).rejects.toSatisfy(isNotifierError)
  })
})

describe('NestJS, mounted by a module and so behind its body parser', () => {
  it('names the fault and the remedy in the answer to a receipt', async () => {
    const { port, notifier } = await start((module) => NestFactory.create(module, { logger: false }))
    const { id } = await notifier.send(mail)
    const answer = await report(port, id, '/in-a-module')
    expect([answer.status, codeOf(answer)]).toEqual([500, 'body_already_read'])
    expect(answer.text).toContain('rawBody: true')
  })

  it('believes receipts if the parser keeps the bytes', async () => {
    const options = { logger: false, rawBody: true } as const
    const { port, notifier } = await start((module) => NestFactory.create(module, options))
    const { id } = await notifier.send(mail)
    const status = async (): Promise<string> => (await notifier.notifications.get(id)).status
    await expect.poll(status).toBe('sent')
    expect((await report(port, id, '/in-a-module')).status).toBe(200)
    expect(await status()).toBe('delivered')
  })

  it('limits bodies as the parser of Nest does', async () => {
    const options = { logger: false, rawBody: true } as const
    const statusOf = async (create: Create): Promise<number> => {
      const { port, notifier } = await start(create)
      const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Write' })
      const body = { ...mail, body: 'x'.repeat(200_000) }
      const headers = { authorization: `Bearer ${secret}` }
      return (await call(port, { method: 'POST', path: '/in-a-module/v1/notify', headers, body })).status
    }
    expect(await statusOf((module) => NestFactory.create(module, options))).toBe(413)
    const raised: Create = async (module) =>
      (await NestFactory.create<NestExpressApplication>(module, options)).useBodyParser('json', {
        limit: '16mb',
      })
    expect(await statusOf(raised)).toBe(201)
  })
})
