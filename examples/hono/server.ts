import { type HttpBindings, serve } from '@hono/node-server'
import { isNotifierError } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { type NotifierFetch, notifierFetch } from 'carillon/fetch'
import { Hono, type MiddlewareHandler } from 'hono'
import notifier, { mailbox } from './carillon.config.ts'

/** A `Request` has no address of its client: the connection has it. */
function mounted(answer: NotifierFetch): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async ({ req, env }, next) => {
    const { remoteAddress } = env.incoming.socket
    return (await answer(req.raw, { remoteAddress, encrypted: false })) ?? next()
  }
}

const app = new Hono<{ Bindings: HttpBindings }>()
app.use(mounted(notifierFetch(notifier, { prefix: '/notifications', https: 'allow-loopback' })))
app.use(mounted(notifierFetch(dashboard(notifier), { prefix: '/dashboard', https: 'allow-loopback' })))
app.use(mounted(notifierFetch(mailbox, { prefix: '/mailbox' })))
app.post('/welcome', async ({ req, json }) => {
  const to = String(req.query('to'))
  return json(await notifier.send({ channel: 'email', to, subject: 'Welcome', body: 'Hello' }))
})
app.onError((error) => {
  if (!isNotifierError(error)) return new Response('Internal Server Error', { status: 500 })
  return Response.json({ code: error.code, message: error.message }, { status: error.status })
})

await notifier.start()
const server = serve({ fetch: app.fetch, port: 3000 })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => notifier.stop()))
