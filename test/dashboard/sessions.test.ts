import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notifierHandler } from '../../adapters/http/node.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { REQUESTS } from '../../src/core/limits/route-limits.ts'
import { UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import { servedNotifier } from '../../src/served-notifier.ts'
import { type DashboardHost, startDashboard } from '../support/dashboard/host.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }

/** Signs in and returns the cookie. */
async function enter(host: DashboardHost, credentials: object): Promise<string> {
  const response = await fetch(`${host.url}session`, {
    method: 'POST',
    headers: SAME_ORIGIN,
    body: JSON.stringify(credentials),
  })
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code: string } }
  return `${response.status} ${body.error?.code}`
}

describe('a session of the dashboard', () => {
  let host: DashboardHost
  const get = (path: string, cookie?: string, headers: Record<string, string> = {}) =>
    fetch(host.url + path, { headers: { ...(cookie === undefined ? {} : { cookie }), ...headers } })
  beforeAll(async () => {
    host = await startDashboard()
  })
  afterAll(() => host.close())

  it('is needed: without one, nothing but the shell and its assets is answered', async () => {
    expect((await get('')).status).toBe(200)
    expect(await codeOf(await get('session'))).toBe('401 session_required')
    expect(await codeOf(await get('api/v1/notifications'))).toBe('401 session_required')
    // A key in a header opens the REST API, not the dashboard.
    const authorization = `Bearer ${await host.key()}`
    expect(await codeOf(await get('api/v1/notifications', undefined, { authorization }))).toBe(
      '401 session_required',
    )
  })

  it('has the rights of its key, and its cookie is kept from scripts, other sites and other paths', async () => {
    const apiKey = await host.key('Read Only')
    const response = await fetch(`${host.url}session`, {
      method: 'POST',
      headers: SAME_ORIGIN,
      body: JSON.stringify({ apiKey }),
    })
    const set = response.headers.get('set-cookie') ?? ''
    expect(set).toMatch(/^carillon_session=[\w.-]+; HttpOnly; SameSite=Strict; Max-Age=28800$/)
    expect(set).not.toContain(apiKey)
    const cookie = set.split(';')[0]
    expect(await (await get('session', cookie)).json()).toMatchObject({
      permission: 'Read Only',
      organizations: ['org_default'],
      names: { org_default: 'Default' },
    })
    const refused = await fetch(`${host.url}api/v1/api-keys`, {
      method: 'POST',
      headers: { ...SAME_ORIGIN, cookie: cookie ?? '' },
      body: '{"name":"x","permission":"Full Access"}',
    })
    expect(await codeOf(refused)).toBe('403 insufficient_permissions')
    expect(await codeOf(await get('api/v1/organizations', cookie))).toBe('403 operator_key_required')
    expect(await codeOf(await get('api/v1/notifications?orgId=org_other', cookie))).toBe(
      '403 organization_mismatch',
    )
    // The REST API knows no cookies.
    const rest = await fetch(`${host.origin}/api/v1/notifications`, { headers: { cookie: cookie ?? '' } })
    expect(await codeOf(rest)).toBe('401 missing_authorization')
  })

  it('ends at once when its key is deleted', async () => {
    const apiKey = await host.key()
    const cookie = await enter(host, { apiKey })
    expect((await get('api/v1/api-keys', cookie)).status).toBe(200)
    const { id } = await host.notifier.apiKeys.verify(apiKey)
    await host.notifier.apiKeys.delete(id)
    expect(await codeOf(await get('api/v1/api-keys', cookie))).toBe('401 session_required')
    expect(await codeOf(await get('session', cookie))).toBe('401 session_required')
  })

  it('ends when its key expires', async () => {
    const { apiKeys } = host.notifier
    const expiresAt = new Date(Date.now() + 1_500).toISOString()
    const { secret } = await apiKeys.create({ name: 'Short', permission: 'Write', expiresAt })
    const cookie = await enter(host, { apiKey: secret })
    await expect.poll(async () => codeOf(await get('session', cookie))).toBe('401 session_required')
    expect(await codeOf(await get('api/v1/templates', cookie))).toBe('401 session_required')
  })

  it('stays ended after signing out, also for whoever copied the cookie', async () => {
    const cookie = await enter(host, { apiKey: await host.key() })
    const out = await fetch(`${host.url}session`, { method: 'DELETE', headers: { ...SAME_ORIGIN, cookie } })
    expect(out.status).toBe(200)
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await codeOf(await get('api/v1/api-keys', cookie))).toBe('401 session_required')
  })

  it('is not begun by a wrong key, a changed token, or a cookie that was made elsewhere', async () => {
    for (const apiKey of ['', 'crl_wrong', `${await host.key()}x`]) {
      const body = JSON.stringify({ apiKey })
      const response = await fetch(`${host.url}session`, { method: 'POST', headers: SAME_ORIGIN, body })
      expect(await codeOf(response)).toBe('401 invalid_api_key')
    }
    const cookie = await enter(host, { apiKey: await host.key() })
    const [name = '', token = ''] = cookie.split('=')
    const [payload = '', mac = ''] = token.split('.')
    const other = Buffer.from(payload, 'base64url')
      .toString()
      .replace(/^key_./, 'key_x')
    for (const changed of [
      `${Buffer.from(other).toString('base64url')}.${mac}`,
      `${payload}.${mac.slice(1)}A`,
      payload,
      'x',
      '',
    ]) {
      expect(await codeOf(await get('session', `${name}=${changed}`))).toBe('401 session_required')
    }
  })

  it('refuses what comes from another site', async () => {
    const cookie = await enter(host, { apiKey: await host.key() })
    const post = (headers: Record<string, string>, path = 'api/v1/api-keys') =>
      fetch(host.url + path, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: '{"name":"x","permission":"Write"}',
      })
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect(await codeOf(await post({ 'sec-fetch-site': site }))).toBe('403 cross_site_request')
    }
    // fetch() of Node.js sends neither header.
    expect(await codeOf(await post({}))).toBe('403 cross_site_request')
    expect(await codeOf(await post({ origin: 'https://evil.example' }))).toBe('403 cross_site_request')
    expect(await codeOf(await post({ origin: 'null' }))).toBe('403 cross_site_request')
    for (const path of ['session', 'preview']) {
      expect(await codeOf(await post({ 'sec-fetch-site': 'cross-site' }, path))).toBe(
        '403 cross_site_request',
      )
    }
    expect((await post({ origin: host.origin })).status).toBe(201)
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  })

  it('begins by a link once', async () => {
    const { id } = await host.notifier.apiKeys.create({ name: 'Link', permission: 'Write' })
    const link = await host.dashboard.signInLink(host.url, id)
    const invitation = link.split('#sign-in=')[1]
    expect(link.startsWith(`${host.url}#sign-in=`)).toBe(true)
    const cookie = await enter(host, { invitation })
    expect(await (await get('session', cookie)).json()).toMatchObject({ actor: id, name: 'Link' })
    const again = await fetch(`${host.url}session`, {
      method: 'POST',
      headers: SAME_ORIGIN,
      body: JSON.stringify({ invitation }),
    })
    expect(await codeOf(again)).toBe('401 session_required')
    // A link is no session, and a session no link.
    expect(await codeOf(await get('session', `carillon_session=${invitation}`))).toBe('401 session_required')
    const { secret } = await host.notifier.apiKeys.create({ name: 'Other', permission: 'Write' })
    for (const wrong of ['key_none', undefined, secret]) {
      await expect(host.dashboard.signInLink(host.url, wrong as never)).rejects.toMatchObject({
        code: 'not_found',
        message: 'No key has this id. Give the id of a key (key.id), not its secret.',
      })
    }
    const closed = dashboard(host.notifier, { keys: false, authorize: () => null })
    await expect(closed.signInLink(host.url, id)).rejects.toMatchObject({
      code: 'invalid_configuration',
      details: { option: 'keys' },
    })
    await expect(host.dashboard.signInLink('nowhere', id)).rejects.toMatchObject({
      code: 'invalid_configuration',
    })
  })

  describe('of an organization with a plan', () => {
    const FREE = { requests: { limit: 20, windowMs: 60_000 }, concurrentRequests: 5 }
    let limited: DashboardHost
    beforeAll(async () => {
      limited = await startDashboard({
        notifier: { plans: { free: { ...UNLIMITED, ...FREE } } },
        options: {
          authorize: ({ headers }: IncomingMessage) =>
            headers['x-person'] === undefined
              ? null
              : { actor: 'ada', permission: 'Read Only', organizations: ['org_window'] },
        },
      })
    })
    afterAll(() => limited.close())
    const organizationWithKey = async (organization: string): Promise<string> => {
      await limited.notifier.organizations.create({ id: organization, name: organization })
      return limited.key('Write', { organization })
    }
    const statusesOf = async (count: number, headers: Record<string, string>): Promise<number[]> => {
      const all = []
      for (let index = 0; index < count; index += 1) {
        all.push((await fetch(`${limited.url}api/v1/webhooks`, { headers })).status)
      }
      return all
    }

    it('uses up the limit of the organization, however many sessions its keys begin', async () => {
      const apiKey = await organizationWithKey('org_window')
      const second = await limited.key('Read Only', { organization: 'org_window' })
      const cookies = [
        await enter(limited, { apiKey }),
        await enter(limited, { apiKey }),
        await enter(limited, { apiKey: second }),
      ]
      const passed = []
      for (const cookie of cookies) passed.push(...(await statusesOf(10, { cookie })))
      // The limit, and its burst of 20 %.
      expect(passed.filter((status) => status === 200)).toHaveLength(24)
      const admit = () =>
        servedNotifier(limited.notifier).limits.admit({ organizationId: 'org_window' }, REQUESTS)
      await expect(admit()).rejects.toMatchObject({ code: 'rate_limit_exceeded', details: { limit: 20 } })
      const { limits } = await limited.notifier.organization('org_window').limits.get()
      expect(limits.requests).toMatchObject({ limit: 20, used: 20 })
      expect(await statusesOf(1, { 'x-person': 'ada' })).toEqual([429])
      // Another organization is not concerned.
      const other = await enter(limited, { apiKey: await organizationWithKey('org_other') })
      expect(await statusesOf(1, { cookie: other })).toEqual([200])
    })

    it('shares the slots of the organization', async () => {
      const apiKey = await organizationWithKey('org_slots')
      const cookies = [await enter(limited, { apiKey }), await enter(limited, { apiKey })]
      const control = new AbortController()
      const drips = Array.from({ length: 6 }, (_, index) =>
        fetch(`${limited.url}api/v1/template-previews`, {
          method: 'POST',
          headers: { ...SAME_ORIGIN, cookie: cookies[index % 2] ?? '' },
          // A body that never ends.
          body: new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) }),
          duplex: 'half',
          signal: control.signal,
        } as RequestInit).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      expect(await Promise.race(drips)).toBe(429)
      control.abort()
      expect((await Promise.all(drips)).filter((status) => status === 429)).toHaveLength(1)
      await expect.poll(async () => statusesOf(1, { cookie: cookies[0] ?? '' })).toEqual([200])
    })
  })

  it('holds to the addresses of its key', async () => {
    const { apiKeys } = host.notifier
    const { secret } = await apiKeys.create({
      name: 'Office',
      permission: 'Write',
      allowedIps: ['203.0.113.0/24'],
    })
    const cookie = await enter(host, { apiKey: secret })
    expect(await codeOf(await get('api/v1/templates', cookie))).toBe('403 ip_not_allowed')
  })

  it('answers pages and assets with their policies, and hides what it has not', async () => {
    const shell = await get('o/org_default/keys?x=1')
    const policy = shell.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(shell.headers.get('cache-control')).toBe('no-store')
    const html = await shell.text()
    // Browsers ask for /favicon.ico of the host otherwise.
    expect(html).toContain('<link rel="icon" href="data:,">')
    const nonce = /script-src 'nonce-([\w-]+)'/.exec(policy)?.[1]
    expect(html).toContain(`nonce="${nonce}"`)
    const script = /src="([^"]+)"/.exec(html)?.[1] ?? ''
    const asset = await fetch(new URL(script, `${host.url}o/org_default/keys`))
    expect(asset.status).toBe(200)
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect(await codeOf(await get('assets/none.js'))).toBe('404 not_found')
    expect(await codeOf(await get('assets/constructor'))).toBe('404 not_found')
    expect(await codeOf(await get('api/v2/x'))).toBe('404 not_found')
    expect((await fetch(host.url, { method: 'PUT', headers: SAME_ORIGIN })).status).toBe(404)
  })

  it('answers its pages with nested errors, whatever format the REST API has', async () => {
    const listener = notifierHandler(host.dashboard, { https: 'allow-loopback', errorFormat: 'flat' })
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await codeOf(await fetch(`http://127.0.0.1:${port}/session`))).toBe('401 session_required')
    server.closeAllConnections()
    server.close()
  })

  it('shows a preview in a sandbox, without links that lead anywhere', async () => {
    const html =
      '<h1>Hi</h1><a href="https://example.com/unsubscribe" title="x>y">Leave</a><script>alert(1)</script>' +
      '<svg><a xlink:href="/evil"/><a/href="/evil"></a></svg><template shadowrootmode="open"><a\nhref = "/evil"></a></template>'
    const form = new URLSearchParams({ html, scheme: 'dark' }).toString()
    const show = (cookie: string, body = form) =>
      fetch(`${host.url}preview`, {
        method: 'POST',
        headers: { ...SAME_ORIGIN, cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body,
      })
    expect((await show('')).status).toBe(401)
    const cookie = await enter(host, { apiKey: await host.key('Read Only') })
    // A form of separators only would hold the process for minutes.
    expect((await show(cookie, `${form}${'&a'.repeat(8)}`)).status).toBe(400)
    const response = await show(cookie)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    )
    const shown = await response.text()
    expect(shown).toContain('content="dark"')
    expect(shown).toContain('<a data-href="https://example.com/unsubscribe" title="x>y">')
    expect(shown).not.toMatch(/[\s/](?:xlink:)?href\s*=/)
  })
})

describe('signing in from a shared address', () => {
  it('is not blocked by wrong keys that the REST API was shown from there', async () => {
    const host = await startDashboard()
    for (let tries = 0; tries < 80; tries += 1) {
      await fetch(`${host.origin}/api/v1/templates`, { headers: { authorization: 'Bearer crl_wrong' } })
    }
    await enter(host, { apiKey: await host.key() })
    await host.close()
  })
})

describe('the session of the application', () => {
  it('lets people in with the rights that it gives, and nobody else', async () => {
    const host = await startDashboard({
      options: {
        keys: false,
        signInUrl: '/login',
        authorize: (request: { headers: Record<string, string | undefined> }) => {
          const person = request.headers['x-person']
          if (person === 'ada') return { actor: 'ada', permission: 'Write', organizations: ['org_default'] }
          if (person === 'root') return { actor: 'root', permission: 'Full Access', organizations: 'all' }
          if (person?.includes('@')) return { actor: person, permission: 'Full Access', organizations: 'all' }
          if (person === 'none') return { actor: 'none', permission: 'Write', organizations: [] }
          if (person === 'wrong') return { actor: '' } as never
          if (person === 'broken') throw new Error('the session store is down')
          return null
        },
      } as never,
    })
    const as = (person: string, path: string, more: RequestInit = {}) =>
      fetch(host.url + path, { ...more, headers: { 'x-person': person, ...more.headers } })
    try {
      await host.notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
      expect(await (await as('ada', 'session')).json()).toMatchObject({
        actor: 'ada',
        organizations: ['org_default'],
      })
      expect((await as('ada', 'api/v1/templates')).status).toBe(200)
      expect(await codeOf(await as('ada', 'api/v1/templates?orgId=org_acme'))).toBe(
        '403 organization_mismatch',
      )
      expect(await codeOf(await as('ada', 'api/v1/organizations'))).toBe('403 operator_key_required')
      expect((await as('root', 'api/v1/organizations')).status).toBe(200)
      expect((await as('root', 'api/v1/templates?orgId=org_acme')).status).toBe(200)
      const change = { method: 'POST', headers: SAME_ORIGIN, body: '{"name":"Beta"}' }
      expect((await as('root@example.com', 'api/v1/organizations', change)).status).toBe(201)
      const template = {
        method: 'POST',
        headers: SAME_ORIGIN,
        body: '{"name":"a","channel":"email","body":"x"}',
      }
      expect((await as('ada', 'api/v1/templates', template)).status).toBe(201)
      const own = await host.notifier.auditLog.list({ action: 'template.created' })
      expect(own.items).toMatchObject([{ actor: { type: 'session', id: 'ada', name: null } }])
      const query = { action: 'organization.created', actor: 'root@example.com' } as const
      const changes = await host.notifier.allOrganizations.auditLog.list(query)
      expect(changes.items).toMatchObject([
        { actor: { type: 'operator', name: null }, target: { name: 'Beta' } },
      ])
      for (const person of ['none', 'mallory']) {
        expect(await codeOf(await as(person, 'api/v1/templates'))).toBe('401 session_required')
      }
      expect(await codeOf(await as('wrong', 'api/v1/templates'))).toBe('500 internal_server_error')
      expect(await codeOf(await as('broken', 'api/v1/templates'))).toBe('503 service_unavailable')
      const signIn = {
        method: 'POST',
        headers: SAME_ORIGIN,
        body: JSON.stringify({ apiKey: await host.key() }),
      }
      expect(await codeOf(await as('mallory', 'session', signIn))).toBe('404 not_found')
      expect(await (await as('mallory', '')).text()).toContain('data-sign-in="/login"')
    } finally {
      await host.close()
    }
  })
})

describe('two processes that share a storage', () => {
  const directory = temporaryDirectory()
  it('share sessions: one that begins in the first ends in the second', async () => {
    const hosts = await Promise.all(
      [1, 2].map(() =>
        startDashboard({ notifier: { storage: sqlite({ file: join(directory, 'shared.db') }) } }),
      ),
    )
    const [first, second] = hosts as [DashboardHost, DashboardHost]
    const cookie = await enter(first, { apiKey: await first.key() })
    const ask = (host: DashboardHost) => fetch(`${host.url}session`, { headers: { cookie } })
    expect((await ask(second)).status).toBe(200)
    await fetch(`${second.url}session`, { method: 'DELETE', headers: { ...SAME_ORIGIN, cookie } })
    expect((await ask(first)).status).toBe(401)
    for (const host of hosts) await host.close()
  })
})
