import { createServer } from 'node:http'
import { notifierHandler } from 'carillon/node'
import notifier, { mailbox } from './carillon.config.ts'

const api = notifierHandler(notifier, { prefix: '/notifications', https: 'allow-loopback' })
const mails = notifierHandler(mailbox, { prefix: '/mailbox' })
const server = createServer((req, res) => api(req, res, () => mails(req, res)))

await notifier.start()
server.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => notifier.stop()))
