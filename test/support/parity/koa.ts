import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { Router } from '@koa/router'
import Koa from 'koa'
import { notifierMiddleware } from '../../../adapters/http/koa.ts'
import { type Harness, listen, type Mount } from './harness.ts'

const require = createRequire(import.meta.url)
// Neither comes with types, and what is used is the same in both majors.
const Koa2 = require('koa2') as typeof Koa
const bodyParser = require('koa-bodyparser') as () => Koa.Middleware
const mountAt = require('koa-mount') as (prefix: string, middleware: Koa.Middleware) => Koa.Middleware

type Mounting = (mount: Mount) => Koa.Middleware

const mountings: Record<string, Mounting> = {
  'koa-mount': ({ notifier, prefix, http }) => mountAt(prefix || '/', notifierMiddleware(notifier, http)),
  'own prefix': ({ notifier, prefix, http }) => notifierMiddleware(notifier, { ...http, prefix }),
  '@koa/router': ({ notifier, prefix, http }) => {
    const router = new Router()
    router.all(`${prefix}/{*path}`, notifierMiddleware(notifier, { ...http, prefix }))
    return router.routes() as Koa.Middleware
  },
}

export const koaHarnesses: readonly Harness[] = [
  koaHarness('Koa 2, koa-mount', Koa2, mountings['koa-mount'] as Mounting),
  koaHarness('Koa 3, koa-mount', Koa, mountings['koa-mount'] as Mounting),
  koaHarness('Koa 3, option prefix', Koa, mountings['own prefix'] as Mounting),
  koaHarness('Koa 3, @koa/router', Koa, mountings['@koa/router'] as Mounting),
]

function koaHarness(name: string, Framework: typeof Koa, mounting: Mounting): Harness {
  return {
    name,
    parserReads: true,
    start(mount) {
      const app = new Framework()
      app.on('error', (error: Error) => {
        // Koa itself reports a connection that ends in the middle of a request, whatever its middleware does.
        if (!('code' in error && error.code === 'HPE_INVALID_EOF_STATE')) mount.errors.push(error)
      })
      app.use(async (ctx, next) => {
        mount.active.count += 1
        ctx.set('X-Host', 'yes')
        try {
          await next()
        } catch (error) {
          mount.errors.push(error)
          ctx.status = 500
          ctx.body = { hostError: true }
        } finally {
          mount.active.count -= 1
        }
      })
      if (mount.parser === 'before') app.use(bodyParser())
      app.use(mounting(mount))
      if (mount.parser !== 'before') app.use(bodyParser())
      app.use((ctx) => {
        const route = `${ctx.method} ${ctx.path}`
        if (route === 'GET /host') ctx.body = { host: true }
        else if (route === 'POST /host/echo') {
          ctx.body = { echo: (ctx.request as { body?: unknown }).body }
        } else if (route === 'GET /host/fails') throw new Error('the host failed')
        else {
          ctx.status = 404
          ctx.body = { hostMissing: true }
        }
      })
      return listen(createServer(app.callback()))
    },
  }
}
