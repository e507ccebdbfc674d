import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import express from 'express'
import notifier, { mailbox } from './carillon.config.ts'

const http = { https: 'allow-loopback' } as const
const app = express()
app.use('/notifications', notifierRouter(notifier, http))
app.use('/dashboard', notifierRouter(dashboard(notifier), http))
app.use('/mailbox', notifierRouter(mailbox))
app.post('/welcome', async (req, res) => {
  const to = String(req.query.to)
  res.json(await notifier.send({ channel: 'email', to, subject: 'Welcome', body: 'Hello' }))
})

await notifier.start()
const server = app.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => notifier.stop()))
