import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type express from 'express'
import { notifierRouter } from '../../adapters/http/express.ts'
import { call } from './http-client.ts'
import { type Host, type HostOptions, startNotifier } from './rest-host.ts'

type Express = typeof express

const require = createRequire(import.meta.url)

const express5 = require('express') as Express

/** Both majors; Express 4 comes without types of its own, and what is used here is the same in both. */
export const EXPRESS: readonly (readonly [name: string, express: Express])[] = [
  ['Express 4', require('express4') as Express],
  ['Express 5', express5],
]

export interface ExpressHostOptions extends HostOptions {
  mount?: string
  /** Called with the application before Carillon is mounted. */
  before?: (app: ReturnType<Express>) => void
}

/** An application of Express 5 with an error handler of its own, and Carillon mounted in it. */
export interface ExpressHost extends Host {
  readonly port: number
  /** What reached the error handler of the application. */
  readonly errors: unknown[]
}

export async function startExpressHost(options: ExpressHostOptions = {}): Promise<ExpressHost> {
  const { mount = '/', before, http, ...given } = options
  const world = await startNotifier(given)
  const errors: unknown[] = []
  const app = express5()
  before?.(app)
  app.use(mount, notifierRouter(world.notifier, { https: 'allow-loopback', ...http }))
  app.use(((error, _req, res, _next) => {
    errors.push(error)
    res.status(500).json({ hostError: true })
  }) satisfies express.ErrorRequestHandler)
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...world,
    errors,
    port,
    call: (request) => call(port, request),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await world.notifier.stop()
    },
  }
}
