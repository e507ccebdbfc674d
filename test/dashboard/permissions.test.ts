import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PERMISSIONS, permits } from '../../src/core/access/permissions.ts'
import { ROUTES } from '../../src/routes.ts'
import { type DashboardHost, startDashboard } from '../support/dashboard/host.ts'

const entries = ROUTES.filter(({ permission }) => permission !== 'public').flatMap((route) =>
  route.paths.filter((path) => path.startsWith('/v1/')).map((path) => ({ route, path })),
)
const KINDS = ['organization', 'operator'] as const

describe('every operation, for every permission', () => {
  let host: DashboardHost
  let addresses = 0
  /** A key of each kind and permission, and the cookie of a session that it began. */
  const callers = new Map<string, { readonly secret: string; readonly cookie: string }>()

  beforeAll(async () => {
    host = await startDashboard()
    for (const permission of PERMISSIONS) {
      for (const kind of KINDS) {
        // An export needs the grant, too.
        const grants = ['content'] as const
        const secret =
          kind === 'operator'
            ? await host.operatorKey(permission, grants)
            : await host.key(permission, { grants })
        const response = await fetch(`${host.url}session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
          body: JSON.stringify({ apiKey: secret }),
        })
        const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
        callers.set(`${kind} ${permission}`, { secret, cookie })
      }
    }
  })
  afterAll(() => host.close())

  async function answer(url: string, method: string, headers: Record<string, string>): Promise<string> {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', 'x-organization-id': 'org_default', ...headers },
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
    const { error } = (await response.json()) as { error?: { code: string } }
    return `${response.status} ${error?.code ?? ''}`
  }

  it.each(entries.map(({ route, path }) => [`${route.method} ${path}`, route, path] as const))(
    '%s is permitted to a session as it is to its key',
    async (_name, route, path) => {
      const where = path.replace('{version}', '1').replace(/\{\w+\}/g, 'none_1')
      for (const kind of KINDS) {
        for (const permission of PERMISSIONS) {
          const { secret, cookie } = callers.get(`${kind} ${permission}`) as {
            secret: string
            cookie: string
          }
          const byKey = await answer(`${host.origin}/api${where}`, route.method, {
            authorization: `Bearer ${secret}`,
          })
          const bySession = await answer(`${host.url}api${where}`, route.method, {
            cookie,
            'sec-fetch-site': 'same-origin',
          })
          expect(bySession).toBe(byKey)
          const refused = /^403 (insufficient_permissions|operator_key_required)$/.test(bySession)
          const permitted =
            permits(permission, route.permission as (typeof PERMISSIONS)[number]) &&
            (route.belongsTo !== 'operator' || kind === 'operator')
          expect(refused).toBe(!permitted)
          if (kind === 'organization' && permission === 'Read Only') {
            // An address has 60 requests a minute without a session, and there are more operations.
            addresses += 1
            const without = await answer(`${host.url}api${where}`, route.method, {
              'sec-fetch-site': 'same-origin',
              'x-forwarded-proto': 'https',
              'x-forwarded-for': `192.0.2.${addresses}`,
            })
            expect(without).toBe('401 session_required')
          }
        }
      }
    },
  )
})
