import { createServer } from 'node:http'
import { notifierHandler } from 'carillon/node'
import { acmeService } from './acme.ts'
import notifier, { acme } from './carillon.config.ts'

const api = notifierHandler(notifier, { prefix: '/notifications', https: 'allow-loopback' })
const server = createServer((req, res) => api(req, res))
const service = acmeService(acme.key, 'http://127.0.0.1:3000/notifications/receipts/pager/acme-pager')

await notifier.start()
service.listen(4000, '127.0.0.1')
server.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => notifier.stop().finally(() => service.close())))
