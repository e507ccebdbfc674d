import type { Server } from 'node:http'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { notifierFetch } from '../../../adapters/http/fetch.ts'
import { type Harness, listen } from './harness.ts'

/** `carillon/fetch` in Hono, as its users have it. */
export const fetchHarness: Harness = {
  name: 'fetch (Hono)',
  // What has read a Request leaves nothing in it.
  parserReads: false,
  ownWays: ['methods'],
  start({ notifier, prefix, http, errors, active }) {
    const answer = notifierFetch(notifier, { prefix, ...http })
    const app = new Hono<{ Bindings: HttpBindings }>()
    app.use(async (c, next) => {
      active.count += 1
      await next().finally(() => {
        active.count -= 1
      })
      // Hono drops what is set before when a handler returns a Response of its own.
      c.header('X-Host', 'yes')
    })
    app.get('/host', (c) => c.json({ host: true }))
    app.all(`${prefix}/*`, async (c, next) => {
      const { remoteAddress } = c.env.incoming.socket
      return (await answer(c.req.raw, { remoteAddress, encrypted: false })) ?? next()
    })
    app.post('/host/echo', async (c) => c.json({ echo: await c.req.json() }))
    app.get('/host/fails', () => {
      throw new Error('the host failed')
    })
    app.notFound((c) => c.json({ hostMissing: true }, 404))
    app.onError((error, c) => {
      errors.push(error)
      return c.json({ hostError: true }, 500)
    })
    return listen(createAdaptorServer({ fetch: app.fetch }) as Server)
  },
}
