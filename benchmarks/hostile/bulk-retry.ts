import { setTimeout as delay } from 'node:timers/promises'
import { attack } from './lib/attack.ts'

/** Retries all failed notifications at once, as many as the plan lets fail. */
await attack({
  title: 'Bulk retries of failed notifications',
  async prepare({ client, note }) {
    // The provider of text messages refuses all.
    const message = { channel: 'sms', to: '+4915112345678', body: 'x' }
    const notifications = Array.from({ length: 1_000 }, () => message)
    for (let nth = 0; nth < 10; nth += 1)
      await client.ask({ method: 'POST', path: '/v1/notifications/batch', body: { notifications } })
    const dryRun = {
      method: 'POST',
      path: '/v1/dead-letters/retry',
      body: { filter: {}, dryRun: true },
    } as const
    let failed = 0
    for (let nth = 0; nth < 60 && failed < 10_000; nth += 1) {
      await delay(1_000)
      const { text } = await client.ask(dryRun)
      failed = (JSON.parse(text) as { retried?: number }).retried ?? 0
    }
    note(`${failed} dead letters`)
  },
  async run({ client, isOver }) {
    // In between, the retried ones fail again.
    for (let nth = 0; nth < 20 && !isOver(); nth += 1) {
      await client.ask({ method: 'POST', path: '/v1/dead-letters/retry', body: { filter: {} } })
      await delay(500)
    }
  },
})
