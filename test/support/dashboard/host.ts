import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import fastifyFactory from 'fastify'
import { notifierRouter } from '../../../adapters/http/express.ts'
import { notifierPlugin } from '../../../adapters/http/fastify.ts'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Message } from '../../../src/core/ports/provider.ts'
import { type Dashboard, type DashboardOptions, dashboard } from '../../../src/dashboard/index.ts'
import {
  createNotifier,
  type Notifier,
  type NotifierOptions,
  type Permission,
  type Storage,
} from '../../../src/index.ts'
import { sharedPostgres, uniqueSchema } from '../postgres.ts'

/** A server with the dashboard of a notifier. */
export interface DashboardHost {
  readonly origin: string
  /** Where the dashboard is mounted; ends with a slash. */
  readonly url: string
  readonly notifier: Notifier
  readonly storage: Storage
  readonly dashboard: Dashboard
  readonly sent: Message[]
  /** The secret of a new key. */
  key(
    permission?: Permission,
    more?: { grants?: readonly 'content'[]; organization?: string },
  ): Promise<string>
  /** The secret of a new operator key. */
  operatorKey(permission?: Permission, grants?: readonly 'content'[]): Promise<string>
  close(): Promise<void>
}

/** Under which the dashboard runs. */
export const HOST_KINDS = ['SQLite and Express', 'PostgreSQL and Fastify'] as const
export type HostKind = (typeof HOST_KINDS)[number]

export interface DashboardHostOptions {
  readonly kind?: HostKind
  readonly mount?: string
  readonly options?: DashboardOptions
  readonly notifier?: Partial<NotifierOptions>
}

export async function startDashboard({
  kind = 'SQLite and Express',
  mount = '/dashboard',
  options = {},
  notifier: more = {},
}: DashboardHostOptions = {}): Promise<DashboardHost> {
  const sent: Message[] = []
  const directory = await mkdtemp(join(tmpdir(), 'carillon-dashboard-'))
  const storage = await storageOf(kind, directory)
  const notifier = createNotifier({
    storage,
    channels: {
      email: {
        name: 'recorder',
        async send(message) {
          sent.push(message)
          return message.to.startsWith('bounce')
            ? { kind: 'rejected', code: 'mailbox_not_found', scope: 'recipient' }
            : { kind: 'accepted', providerMessageId: `m${sent.length}` }
        },
      },
    },
    ...more,
  } as NotifierOptions) as Notifier
  await notifier.start()
  const mounted = dashboard(notifier, options)
  const server = createServer(await listenerOf(kind, mounted, notifier, mount))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}${mount.replace(/\/$/, '')}/`,
    notifier,
    storage,
    dashboard: mounted,
    sent,
    async key(permission = 'Full Access', { grants = [], organization = 'org_default' } = {}) {
      const { apiKeys } = notifier.organization(organization)
      return (await apiKeys.create({ name: 'Test', permission, grants: [...grants] })).secret
    },
    async operatorKey(permission = 'Full Access', grants = []) {
      return (await notifier.operatorKeys.create({ name: 'Test', permission, grants: [...grants] })).secret
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await notifier.stop()
      await rm(directory, { recursive: true })
    },
  }
}

async function storageOf(kind: HostKind, directory: string) {
  if (kind === 'SQLite and Express') {
    return sqlite({ file: join(directory, 'carillon.db'), synchronous: 'normal' })
  }
  return postgres({ connectionString: await sharedPostgres(), schema: uniqueSchema() })
}

async function listenerOf(
  kind: HostKind,
  mounted: Dashboard,
  notifier: Notifier,
  mount: string,
): Promise<RequestListener> {
  const http = { https: 'allow-loopback', trustedProxies: ['loopback'] } as const
  if (kind === 'SQLite and Express') {
    const app = express()
    app.use(mount, notifierRouter(mounted, http))
    app.use('/api', notifierRouter(notifier, http))
    return app
  }
  const app = fastifyFactory()
  app.register(notifierPlugin(mounted, http), { prefix: mount })
  app.register(notifierPlugin(notifier, http), { prefix: '/api' })
  await app.ready()
  return app.routing as RequestListener
}
