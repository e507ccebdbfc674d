import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import type { Provider } from 'carillon'
import express from 'express'
import { listen } from '../../lib/servers.ts'

// Imports the package from the given folder, because the programs compare versions of it.

export interface ServerSettings {
  /** The folder of the built package. */
  readonly dist: string
  /** The file of the storage. */
  readonly file: string
}

export type ServerCommand =
  | { readonly do: 'start'; readonly settings: ServerSettings }
  | { readonly do: 'plan'; readonly organizationId: string; readonly plan: string }
  | { readonly do: 'forget-stalls' }
  | { readonly do: 'stall' }

/** What the programs need of a started server. */
export interface Started {
  readonly port: number
  readonly attacker: Tenant
  readonly victim: Tenant
}

export interface Tenant {
  readonly organizationId: string
  readonly key: string
}

const loop = monitorEventLoopDelay({ resolution: 1 })
let run: ((command: ServerCommand) => Promise<unknown>) | undefined

process.on('message', async ({ id, command }: { id: number; command: ServerCommand }) => {
  try {
    if (command.do === 'start') {
      process.send?.({ id, answer: await start(command.settings) })
    } else {
      process.send?.({ id, answer: await run?.(command) })
    }
  } catch (error) {
    process.send?.({ id, error: String(error) })
  }
})
process.on('disconnect', () => process.exit())

async function start({ dist, file }: ServerSettings): Promise<Started> {
  const load = <Module>(path: string): Promise<Module> => import(`${pathToFileURL(dist)}/${path}`)
  const { createNotifier, perMinutePlans } = await load<typeof import('carillon')>('index.js')
  const { sqlite } = await load<typeof import('carillon/sqlite')>('adapters/storage/sqlite/index.js')
  const { webhook } = await load<typeof import('carillon/webhook')>('adapters/channels/webhook/send.js')
  const { notifierRouter } = await load<typeof import('carillon/express')>('adapters/http/express.js')
  const { dashboard } = await load<typeof import('carillon/dashboard')>('dashboard/index.js')
  const email: Provider = {
    name: 'reporting',
    send: async () => ({ kind: 'accepted' }),
    parseReceipts: async () => ({ kind: 'receipts', receipts: [] }),
  }
  const sms: Provider = {
    name: 'refusing',
    send: async () => ({ kind: 'rejected', scope: 'message', code: 'provider_error' }),
  }
  const notifier = createNotifier({
    storage: sqlite({ file }),
    channels: {
      email,
      sms,
      webhook: webhook({ allow: ['127.0.0.0/8'], allowHttp: true, successStatus: '2xx' }),
    },
    plans: {
      ...perMinutePlans,
      // The plan `free` without its limits of minutes and hours: an attacker has the time to prepare.
      preparing: {
        ...perMinutePlans.free,
        requests: null,
        concurrentRequests: null,
        notificationsPerHour: null,
      },
    },
  })
  await notifier.start()
  const app = express()
  app.use('/dashboard', notifierRouter(dashboard(notifier), { https: 'allow-loopback' }))
  app.use(notifierRouter(notifier, { https: 'allow-loopback' }))
  const { port } = await listen(app)
  const tenant = async (name: string, plan: string): Promise<Tenant> => {
    const { id: organizationId } = await notifier.organizations.create({ name, plan })
    const { secret: key } = await notifier
      .organization(organizationId)
      .apiKeys.create({ name, permission: 'Full Access' })
    return { organizationId, key }
  }
  run = async (command) => {
    if (command.do === 'plan')
      await notifier.organizations.update(command.organizationId, { plan: command.plan })
    else if (command.do === 'forget-stalls') loop.reset()
    return Math.max(0, loop.max / 1e6)
  }
  loop.enable()
  return {
    port,
    attacker: await tenant('Attacker', 'preparing'),
    victim: await tenant('Victim', 'enterprise'),
  }
}
