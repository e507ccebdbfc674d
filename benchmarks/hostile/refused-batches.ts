import { setTimeout as delay } from 'node:timers/promises'
import { attack } from './lib/attack.ts'
import { largest } from './lib/client.ts'
import { tags } from './lib/texts.ts'

/** Sends batches of which the quota refuses all: validating them costs the sender nothing. */
await attack({
  title: 'Batches that the quota refuses',
  async prepare({ client, note }) {
    const textOf = (size: number) => tags(size, (nth) => `{{a${nth % 900}}} `, 9_000)
    const { size, refused } = await largest(80_000, async (wanted) => {
      const body = { name: 'wide', channel: 'email', subject: 'x', text: textOf(wanted) }
      const answer = await client.ask({ method: 'POST', path: '/v1/templates', body })
      if (answer.status < 400) await client.ask({ method: 'DELETE', path: '/v1/templates/wide' })
      return answer
    })
    const text = textOf(size)
    await client.ask({
      method: 'POST',
      path: '/v1/templates',
      body: { name: 'wide', channel: 'email', subject: 'x', text },
    })
    const variables = Object.fromEntries(Array.from({ length: 900 }, (_, nth) => [`a${nth}`, 'x']))
    const notifications = Array.from({ length: 1_000 }, (_, nth) => ({
      to: `a${nth}@example.com`,
      template: 'wide',
      variables,
    }))
    note(`a template of ${size} characters, larger ones: ${refused?.code ?? 'not refused'}`)
    return notifications
  },
  async run({ client, isOver, note }, notifications) {
    // Uses up the quota of the hour.
    const plain = Array.from({ length: 1_000 }, (_, nth) => ({
      channel: 'email',
      to: `b${nth}@example.com`,
      body: 'x',
    }))
    await client.ask({ method: 'POST', path: '/v1/notifications/batch', body: { notifications: plain } })
    let count = notifications.length
    const batch = () => ({
      method: 'POST' as const,
      path: '/v1/notifications/batch',
      body: { notifications: notifications.slice(0, count) },
    })
    let first = await client.ask(batch())
    for (; first.status >= 400 && count > 1; first = await client.ask(batch())) count = Math.floor(count / 2)
    note(`${count} messages each, which are refused with ${/"code":"(\w+)"/.exec(first.text)?.[1]}`)
    let left = 120
    const one = async (): Promise<void> => {
      while (left-- > 0 && !isOver()) {
        // Waits as the answer asks, so that the next one is processed.
        if ((await client.ask(batch())).status === 429) await delay(1_000)
      }
    }
    await Promise.all(Array.from({ length: 5 }, one))
  },
})
