import { describe, expect, it, onTestFinished } from 'vitest'
import type { Provider } from '../../src/core/ports/provider.ts'
import { httpProviderHarness, providerContract, providerServer } from '../../src/testing/index.ts'

/* The harness for providers over HTTP: what a careless one does wrong is found. */

const refused = { kind: 'rejected', code: 'provider_error', scope: 'message' } as const

/** As `fetch` makes it easy: follows redirects, reads whatever comes, believes a status, and calls all else a refusal. */
function careless(url: string): Provider {
  return {
    name: 'careless',
    maxConcurrent: 4,
    async send({ to, body }, { idempotencyKey, signal }) {
      const headers = { connection: 'close', 'x-api-key': 'correct-horse', 'idempotency-key': idempotencyKey }
      try {
        const sent = { method: 'POST', headers, body: JSON.stringify({ to, body }), signal }
        const response = await fetch(url, sent)
        const said = await response.text()
        if (response.ok) return { kind: 'accepted' }
        return { ...refused, message: said }
      } catch {
        return refused
      }
    },
  }
}

function harness() {
  return httpProviderHarness({
    provider: careless,
    message: (url) => ({ to: url, subject: null, body: '', format: 'text' }),
    secrets: ['correct-horse'],
    accept: () => ({ status: 200, body: { id: '1' } }),
    take: ({ headers, body }) => ({ ...JSON.parse(String(body)), id: String(headers['idempotency-key']) }),
    rows: [{ row: 'no', reply: { status: 400, body: 'Not $credentials!' }, outcome: refused }],
  })
}

describe('the harness of a provider over HTTP', () => {
  const checks = new Map<string, () => Promise<void>>()
  const rows = [{ row: 'no', outcome: refused }]
  providerContract((name, run) => void checks.set(name, run), harness, rows, { http: true })
  const run = async (name: RegExp) => {
    const found = [...checks].filter(([each]) => name.test(each))
    expect(found).toHaveLength(1)
    await found[0]?.[1]()
  }

  it.each([
    /an accepted message has reached the provider, once/,
    /a message without a subject/,
    /carry one id/,
    /no more connections than announced/,
  ])('lets pass what the provider does right: %s', async (name) => {
    await run(name)
  })

  it.concurrent.each([
    [/an answer is understood: no/, 'a secret appears'],
    [/a signal ends a call without an answer/, '"kind":"rejected"'],
    [/breaks before the answer/, "+ 'rejected'"],
    [/refuses the connection/, '"kind":"rejected"'],
    [/cannot be read leaves an unknown result: truncate/, "+ 'rejected'"],
    [/cannot be read leaves an unknown result: html/, "+ 'accepted'"],
    [/answer stops in the middle/, '"kind":"rejected"'],
    [/never ends/, 'the provider has not answered'],
    [/a fault with the status 502/, 'the outcome is rejected'],
    [/redirect is not followed/, "'accepted'"],
    [/a hint to wait is understood: seconds/, '"kind":"rejected"'],
  ])('finds %s', async (name, why) => {
    await expect(run(name)).rejects.toThrow(why)
  })
})

it('a server of a provider answers by path and method, and says what it has taken', async () => {
  const server = await providerServer({
    accept: ({ path }, number) => ({ status: 201, body: { path, number } }),
    aside: ({ method }) => (method === 'GET' ? { status: 204 } : undefined),
  })
  onTestFinished(server.close)
  const post = async (path: string) => {
    const response = await fetch(server.url + path, { method: 'POST', headers: { connection: 'close' } })
    return [response.status, await response.text()]
  }
  expect(await post('/a?b=1')).toEqual([201, '{"path":"/a?b=1","number":1}'])
  expect((await fetch(server.url, { headers: { connection: 'close' } })).status).toBe(204)
  server.act({ kind: 'fault', status: 502 })
  expect((await post('/'))[0]).toBe(502)
  expect(() => server.act({ kind: 'answer', row: 'unknown' })).toThrow('There is no row "unknown"')
  expect([server.taken.length, server.requests.length]).toEqual([1, 3])
  await server.drained()
})
