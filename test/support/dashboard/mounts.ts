import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type expressFactory from 'express'
import fastifyFactory from 'fastify'
import Koa from 'koa'
import { onTestFinished } from 'vitest'
import { notifierRouter } from '../../../adapters/http/express.ts'
import { notifierPlugin } from '../../../adapters/http/fastify.ts'
import { notifierFetch } from '../../../adapters/http/fetch.ts'
import { notifierMiddleware } from '../../../adapters/http/koa.ts'
import { notifierHandler } from '../../../adapters/http/node.ts'
import type { Served } from '../../../src/core/lifecycle/notifier-internals.ts'

const require = createRequire(import.meta.url)
/** The options of the adapters. */
export const HTTP = { https: 'allow-loopback' } as const

type Mount = (served: Served, prefix: string) => Promise<RequestListener> | RequestListener

function express(name: string): Mount {
  return (served, prefix) => {
    const app = (require(name) as typeof expressFactory)()
    app.use(prefix || '/', notifierRouter(served, HTTP))
    return app
  }
}

/** Every adapter, and how it mounts something below a prefix. */
export const HOSTS: readonly (readonly [name: string, mount: Mount])[] = [
  ['Express 4', express('express4')],
  ['Express 5', express('express')],
  [
    'Fastify',
    async (served, prefix) => {
      const app = fastifyFactory()
      app.register(notifierPlugin(served, HTTP), { prefix })
      await app.ready()
      return app.routing as RequestListener
    },
  ],
  [
    'Koa',
    (served, prefix) => new Koa().use(notifierMiddleware(served, { ...HTTP, prefix }) as never).callback(),
  ],
  ['node:http', (served, prefix) => notifierHandler(served, { ...HTTP, prefix })],
  [
    'fetch',
    (served, prefix) => {
      const answer = notifierFetch(served, { ...HTTP, prefix })
      const connection = { remoteAddress: '127.0.0.1', encrypted: false }
      return getRequestListener(
        async (request) => (await answer(request, connection)) ?? new Response(null, { status: 404 }),
      ) as RequestListener
    },
  ],
]

/** Listens until the test ends. */
export async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port
