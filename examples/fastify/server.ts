import { dashboard } from 'carillon/dashboard'
import { notifierPlugin } from 'carillon/fastify'
import Fastify from 'fastify'
import notifier, { mailbox } from './carillon.config.ts'

const http = { https: 'allow-loopback' } as const
const app = Fastify()
app.register(notifierPlugin(notifier, http), { prefix: '/notifications' })
app.register(notifierPlugin(dashboard(notifier), http), { prefix: '/dashboard' })
app.register(notifierPlugin(mailbox), { prefix: '/mailbox' })
app.post<{ Querystring: { to: string } }>('/welcome', ({ query: { to } }) =>
  notifier.send({ channel: 'email', to, subject: 'Welcome', body: 'Hello' }),
)
app.addHook('onClose', () => notifier.stop())

await notifier.start()
await app.listen({ port: 3000 })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close())
