import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import express from 'express'
import notifier, { mailbox } from './carillon.config.ts'

const http = { https: 'allow-loopback' } as const
const app = express()
app.use('/notifications', notifierRouter(notifier, http)) // each customer with a key of its own
app.use('/dashboard', notifierRouter(dashboard(notifier), http))
app.use('/mailbox', notifierRouter(mailbox))

/** A customer signs up. In your application, only after a sign-in. */
app.post('/customers', express.json(), async (req, res) => {
  const { id } = await notifier.organizations.create({ name: req.body.name })
  const customer = notifier.organization(id)
  const key = await customer.apiKeys.create({ name: 'Production', permission: 'Write' })
  const endpoint = await customer.webhooks.create({ url: req.body.events })
  res.status(201).json({ id, key: key.secret, webhookSecret: endpoint.secret }) // both are shown once
})

await notifier.start()
const server = app.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => notifier.stop()))
