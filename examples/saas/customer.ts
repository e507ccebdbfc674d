// The customer's own service, on another machine: it knows nothing but its secret.
import { expressReceiver } from 'carillon/webhooks'
import express from 'express'

const app = express()
app.post(
  '/events',
  expressReceiver({
    secret: process.env.WEBHOOK_SECRET ?? '',
    handle: ({ event, data }) => console.log(`${event} ${JSON.stringify(data)}`),
  }),
)

const server = app.listen(4000, '127.0.0.1')
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
