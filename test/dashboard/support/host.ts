import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { notifierRouter } from '../../../adapters/http/express.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { type Dashboard, type DashboardOptions, dashboard } from '../../../src/dashboard/index.ts'
import {
  createNotifier,
  type Message,
  type Notifier,
  type NotifierOptions,
  type Permission,
} from '../../../src/index.ts'

/** An Express server with the dashboard of a notifier. */
export interface DashboardHost {
  readonly origin: string
  /** Where the dashboard is mounted; ends with a slash. */
  readonly url: string
  readonly notifier: Notifier
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

export interface DashboardHostOptions {
  readonly mount?: string
  readonly options?: DashboardOptions
  readonly notifier?: Partial<NotifierOptions>
}

export async function startDashboard({
  mount = '/dashboard',
  options = {},
  notifier: more = {},
}: DashboardHostOptions = {}): Promise<DashboardHost> {
  const sent: Message[] = []
  const directory = await mkdtemp(join(tmpdir(), 'carillon-dashboard-'))
  const notifier = createNotifier({
    storage: sqlite({ file: join(directory, 'carillon.db'), synchronous: 'normal' }),
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
  const app = express()
  app.use(mount, notifierRouter(mounted, { https: 'allow-loopback' }))
  app.use('/api', notifierRouter(notifier, { https: 'allow-loopback' }))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}${mount.replace(/\/$/, '')}/`,
    notifier,
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
