import { afterEach, describe, expect, it } from 'vitest'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import { ROUTES } from '../../../src/routes.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { watchReads } from '../../support/record-reads.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' }

let host: Host
let auth: { authorization: string }
afterEach(() => host.close())

async function start(options: HostOptions = {}): Promise<void> {
  host = await startHost(options)
  auth = await host.key()
}
const api = (options: Call): Promise<Answer> => host.call({ headers: auth, ...options })

describe('GET /health', () => {
  it('says that it is well, and nothing else, with or without a key', async () => {
    await start()
    for (const headers of [{}, auth]) {
      const answer = await host.call({ path: '/health', headers })
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }])
    }
  })

  it('is 503 in maintenance and when the storage does not answer, without a word of why', async () => {
    const storage = inMemory()
    let broken = false
    watchReads(storage, organizationKind, async (inner) => {
      if (broken) throw new Error('connection to db.internal:5432 refused')
      return inner()
    })
    await start({ storage })
    const failing: (() => void)[] = [
      () => host.notifier.maintenance(true),
      () => {
        host.notifier.maintenance(false)
        broken = true
      },
    ]
    for (const fail of failing) {
      fail()
      const answer = await host.call({ path: '/health' })
      expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      // The request id is drawn by chance, and may spell anything.
      expect(answer.text.replace(/"request_id":"[^"]+"/, '')).not.toMatch(/db|maintenance|storage/i)
    }
    broken = false
    expect((await host.call({ path: '/health' })).status).toBe(200)
  })

  it('is 503 when the storage hangs', async () => {
    const clock = fakeClock()
    const storage = inMemory(clock)
    let asked = false
    let hangs = false
    watchReads(storage, organizationKind, (inner) => {
      if (!hangs) return inner()
      asked = true
      return new Promise<never>(() => {})
    })
    await start({ clock, storage })
    hangs = true
    const answer = host.call({ path: '/health' })
    await expect.poll(() => asked).toBe(true)
    await clock.advance(2_000)
    expect([(await answer).status, codeOf(await answer)]).toEqual([503, 'service_unavailable'])
  })

  it.each([
    ['POST', '/health'],
    ['DELETE', '/openapi.json'],
    ['GET', '/health/'],
    ['GET', '/healthz'],
    ['GET', '/metrics'],
  ])('is no other method or path: %s %s', async (method, path) => {
    await start()
    const answer = await host.call({ method, path })
    expect([answer.status, answer.headers['x-request-id']]).toEqual([404, undefined])
  })

  it('needs HTTPS like everything else', async () => {
    await start({ http: { https: 'require' } })
    expect(codeOf(await host.call({ path: '/health' }))).toBe('https_required')
  })
})

/** What mails lead to has its own tests: tracking.test.ts and unsubscribe.test.ts. */
const READERS_LINKS = new Set([
  'askUnsubscribe',
  'unsubscribe',
  'showPreferencePage',
  'savePreferencePage',
  'open',
  'click',
])

describe('maintenance', () => {
  it('is told true or false and nothing else', async () => {
    await start()
    for (const said of [undefined, null, 'on', 1]) {
      expect(() => host.notifier.maintenance(said as never)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter' }),
      )
    }
    expect((await host.call({ path: '/health' })).status).toBe(200)
  })

  it('is 503 with Retry-After on every other route, in both forms, and nothing is stored', async () => {
    const clock = fakeClock()
    for (const errorFormat of ['nested', 'flat'] as const) {
      await start({ http: { errorFormat }, clock })
      host.notifier.maintenance(true)
      for (const { method, paths, body, operation } of ROUTES) {
        if (READERS_LINKS.has(operation)) continue
        const path = (paths[0] ?? '').replaceAll(/\{\w+\}/g, 'notif_1')
        const answer = await api({ method, path, ...(body === undefined ? {} : { body: mail }) })
        expect([answer.status, String(codeOf(answer)).toLowerCase()], path).toEqual([
          503,
          'service_unavailable',
        ])
        const wait = Number(answer.headers['retry-after'])
        expect(wait).toBeGreaterThanOrEqual(1)
        expect(answer.headers).toMatchObject({
          'x-ratelimit-limit': '0',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-resource': 'service',
        })
        const reset = Number(answer.headers['x-ratelimit-reset'])
        expect(reset - clock.now() / 1000).toBeGreaterThanOrEqual(wait)
      }
      host.notifier.maintenance(false)
      expect((await host.notifier.notifications.list()).items).toEqual([])
      if (errorFormat === 'nested') await host.close()
    }
  })
})
