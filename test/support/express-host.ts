import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type express from 'express'
import { type HttpApiOptions, notifierRouter } from '../../adapters/http/express.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import {
  createNotifier,
  type Notifier,
  type NotifierOptions,
  type Permission,
  type Provider,
  type Storage,
} from '../../src/index.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { inMemory } from './in-memory.ts'

type Express = typeof express

const require = createRequire(import.meta.url)

/** Both majors; Express 4 comes without types of its own, and what is used here is the same in both. */
export const EXPRESS: readonly (readonly [name: string, express: Express])[] = [
  ['Express 4', require('express4') as Express],
  ['Express 5', require('express') as Express],
]

export interface HostOptions {
  express?: Express
  mount?: string
  /** Where the host's own `express.json()` stands. */
  parser?: 'none' | 'before' | 'after'
  http?: HttpApiOptions
  storage?: Storage
  plans?: NotifierOptions['plans']
  overuse?: NotifierOptions['overuse']
  webhooks?: NotifierOptions['webhooks']
  logger?: NotifierOptions['logger']
  delivery?: NotifierOptions['delivery']
  publicUrl?: string | undefined
  secret?: NotifierOptions['secret']
  categories?: NotifierOptions['categories']
  pages?: NotifierOptions['pages']
  recipients?: NotifierOptions['recipients']
  attachments?: NotifierOptions['attachments']
  bounds?: NotifierOptions['bounds']
  /** Default: one that records and accepts. */
  channel?: Provider
  /** Beside e-mail. */
  moreChannels?: NotifierOptions['channels']
  /** Default: the real time, which can be shifted. */
  clock?: FakeClock
  /** Called with the host before Carillon is mounted. */
  before?: (app: ReturnType<Express>) => void
}

/** An application with routes and an error handler of its own, and Carillon mounted in it. */
export interface Host {
  readonly port: number
  readonly server: Server
  readonly notifier: Notifier
  readonly storage: Storage
  /** Below the mount. */
  path(path: string): string
  /** What the provider was handed. */
  readonly sent: Message[]
  /** What reached the error handler of the host. */
  readonly errors: unknown[]
  readonly clock: { now(): number; advance(ms: number): unknown }
  /** Headers with a key of the organization. */
  key(permission?: Permission, organizationId?: string): Promise<{ authorization: string }>
  /** Headers with an operator key. */
  operatorKey(permission?: Permission): Promise<{ authorization: string }>
  close(): Promise<void>
}

export async function startHost(options: HostOptions = {}): Promise<Host> {
  const { express: framework = EXPRESS[1]?.[1], mount = '/', parser = 'none' } = options
  if (framework === undefined) throw new Error('no Express')
  const sent: Message[] = []
  const errors: unknown[] = []
  const clock = options.clock ?? shiftedClock()
  const storage = options.storage ?? inMemory(clock)
  const notifier = createNotifier({
    storage,
    clock,
    plans: options.plans,
    overuse: options.overuse,
    webhooks: options.webhooks,
    logger: options.logger,
    ...(options.delivery && { delivery: options.delivery }),
    publicUrl: options.publicUrl,
    secret: options.secret,
    categories: options.categories,
    pages: options.pages,
    recipients: options.recipients,
    attachments: options.attachments,
    bounds: options.bounds,
    channels: { email: options.channel ?? recorder(sent), ...options.moreChannels },
  })
  await notifier.start()

  const app = framework()
  app.get('/host', (_req, res) => {
    res.json({ host: true })
  })
  app.get('/host/fails', () => {
    throw new Error('the host failed')
  })
  options.before?.(app)
  if (parser === 'before') app.use(framework.json())
  app.use(mount, notifierRouter(notifier, { https: 'allow-loopback', ...options.http }))
  if (parser === 'after') app.use(framework.json())
  app.post('/host/echo', framework.json(), (req, res) => {
    res.json({ echo: req.body })
  })
  app.use(((error, _req, res, _next) => {
    errors.push(error)
    res.status(500).json({ hostError: true })
  }) satisfies express.ErrorRequestHandler)

  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    notifier,
    storage,
    sent,
    errors,
    clock,
    port: (server.address() as AddressInfo).port,
    path: (path) => (mount === '/' ? path : mount + path),
    async key(permission = 'Full Access', organizationId = 'org_default') {
      const { apiKeys } = notifier.organization(organizationId)
      const { secret } = await apiKeys.create({ name: 'test', permission })
      return { authorization: `Bearer ${secret}` }
    },
    async operatorKey(permission = 'Full Access') {
      const { secret } = await notifier.operatorKeys.create({ name: 'test', permission })
      return { authorization: `Bearer ${secret}` }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await notifier.stop()
    },
  }
}

function recorder(sent: Message[]): Provider {
  return {
    name: 'recorder',
    async send(message) {
      sent.push(message)
      return { kind: 'accepted', providerMessageId: `m${sent.length}` }
    },
  }
}

/** The real time and a shift: what expires can be waited for without waiting. */
function shiftedClock() {
  let shift = 0
  return {
    now: () => Date.now() + shift,
    monotonic: () => performance.now() + shift,
    timer(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      timer.unref()
      return () => clearTimeout(timer)
    },
    advance(ms: number) {
      shift += ms
    },
  }
}
