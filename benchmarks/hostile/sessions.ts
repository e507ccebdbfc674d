import { attack } from './lib/attack.ts'
import type { Ask } from './lib/client.ts'

/** Asks with as many sessions of the dashboard as one key can begin: each may have limits of its own. */
await attack({
  title: 'Requests over the key and sessions of the dashboard together',
  async prepare({ client, key, note }) {
    const cookies: string[] = []
    for (let nth = 0; nth < 20; nth += 1) {
      const { status, headers } = await client.ask({
        method: 'POST',
        path: '/dashboard/session',
        body: { apiKey: key },
        headers: { 'sec-fetch-site': 'same-origin' },
      })
      const cookie = headers['set-cookie']?.[0]?.split(';')[0]
      if (status < 400 && cookie !== undefined) cookies.push(cookie)
    }
    note(`${cookies.length} sessions`)
    const texts = Array.from({ length: 300 }, (_, nth) => `line ${nth} {{name}}`).join('\n')
    for (let nth = 0; nth < 20; nth += 1)
      await client.ask({
        method: 'POST',
        path: '/v1/templates',
        body: { name: `t${nth}`, channel: 'email', subject: 'x', text: texts },
      })
    return cookies
  },
  async run({ client, isOver, note }, cookies) {
    const before = performance.now()
    const identities: readonly Ask['headers'][] = [{}, ...cookies.map((cookie) => ({ cookie }))]
    await client.flood(
      (number) => {
        const headers = identities[number % identities.length] ?? {}
        const mount = headers.cookie === undefined ? '' : '/dashboard/api'
        return { method: 'GET', path: `${mount}/v1/notifications?limit=100`, headers }
      },
      { requests: 2_000, isOver },
    )
    note(
      `within ${Math.round((performance.now() - before) / 1_000)} s; the plan allows 100 a minute, 120 in a burst`,
    )
  },
})
