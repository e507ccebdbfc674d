import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { attack } from './lib/attack.ts'

/** Sends 900 messages to a receiver that drips its answer, through the provider that all share. */
await attack({
  title: 'Receivers that drip their answers',
  victim: 'delivery',
  async prepare({ note }) {
    const dripping = createServer((req, res) => {
      req.resume()
      res.writeHead(200)
      const drops = setInterval(() => res.write('.'), 500)
      res.once('close', () => clearInterval(drops))
    })
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve))
    dripping.unref()
    note('a batch of 900 to a receiver that sends a byte every half second and never ends')
    return (dripping.address() as AddressInfo).port
  },
  async run({ client, isOver }, port) {
    const messages = Array.from({ length: 900 }, (_, nth) => ({
      channel: 'webhook',
      to: `http://127.0.0.1:${port}/${nth}`,
      body: 'x',
    }))
    await client.ask({
      method: 'POST',
      path: '/v1/notifications/batch',
      body: { notifications: messages },
    })
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 100))
  },
})
