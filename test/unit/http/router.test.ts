import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Permission } from '../../../src/core/access/permissions.ts'
import { REQUESTS } from '../../../src/core/limits/route-limits.ts'
import type { Route } from '../../../src/core/rest/route.ts'
import { compileRoutes } from '../../../src/http/router.ts'
import { ROUTES } from '../../../src/routes.ts'

function route(change: Partial<Route> = {}): Route {
  return {
    operation: 'test',
    summary: 'Test',
    tag: { name: 'Service', description: '' },
    method: 'GET',
    paths: ['/v1/things/{id}'],
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: REQUESTS,
    status: 200,
    response: z.object({}),
    handler: async () => ({ body: {} }),
    ...change,
  }
}

describe('the table of routes', () => {
  const find = compileRoutes(ROUTES)

  it.each(ROUTES.flatMap((entry) => entry.paths.map((path) => [entry.method, path, entry] as const)))(
    'leads %s %s to its operation',
    (method, path, entry) => {
      const match = find(method, path.replaceAll(/\{\w+\}/g, 'some-id'))
      expect(match).toMatchObject({ kind: 'route', valid: true, route: { operation: entry.operation } })
      expect(match).toMatchObject({ organizationRequired: path.startsWith('/admin/') })
    },
  )

  it.each(ROUTES)('describes $operation by schemas that OpenAPI can carry', ({ query, body, response }) => {
    expect(z.toJSONSchema(response)).toBeTypeOf('object')
    if (query !== undefined) expect(z.toJSONSchema(query, { io: 'output' })).toMatchObject({ type: 'object' })
    if (body !== undefined) {
      // Calls from code may pass a Date, and objects of any depth are bounded by a check that JSON Schema lacks.
      expect(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })).toMatchObject({ type: 'object' })
    }
  })

  it('names every operation once', () => {
    expect(new Set(ROUTES.map(({ operation }) => operation)).size).toBe(ROUTES.length)
  })

  it.each([
    ['/v1'],
    ['/v1/'],
    ['/admin'],
    ['/v1/notify/'],
    ['/v1//notify'],
    ['/v1/Notify'],
    ['/v1/%6eotify'],
    ['/v1/notifications/a/b/c'],
    ['/v1/__proto__'],
    ['/v1/constructor'],
  ])('knows nothing at %s, but calls it its own', (path) => {
    expect(find('GET', path)).toEqual({ kind: 'unknown' })
  })

  it.each([
    ['/'],
    ['/v2/notify'],
    ['/v1x'],
    ['/administrator'],
    ['/V1/notify'],
    ['//v1/notify'],
    ['*'],
    [''],
  ])('leaves %s to the host', (path) => {
    expect(find('GET', path)).toBeNull()
  })

  it('says which methods a path has', () => {
    expect(find('PUT', '/v1/templates')).toEqual({ kind: 'method', allow: 'GET, HEAD, POST' })
    expect(find('GET', '/v1/notify')).toEqual({ kind: 'method', allow: 'POST' })
    expect(find('get', '/v1/templates')).toMatchObject({ kind: 'method' })
  })

  it('answers HEAD where GET is', () => {
    expect(find('HEAD', '/v1/templates')).toMatchObject({
      kind: 'route',
      route: { operation: 'listTemplates' },
    })
  })
})

describe('path parameters', () => {
  const find = compileRoutes([route()])

  it.each([
    ['abc', 'abc'],
    ['notif_1', 'notif_1'],
    ['notif%5F1', 'notif_1'],
    ['%61bc', 'abc'],
    ['wh_listener.mirror', 'wh_listener.mirror'],
  ])('%s is %s', (segment, id) => {
    expect(find('GET', `/v1/things/${segment}`)).toMatchObject({ valid: true, params: { id } })
  })

  it.each([
    ['%'],
    ['%ZZ'],
    ['%00'],
    ['%2e%2e'],
    ['..'],
    ['.'],
    ['.env'],
    ['a%2Fb'],
    ['%E0%A4%A'],
    ['%F0%9F%98%80'],
    ['a;b'],
    ['a b'],
    ["'--"],
    ['%25%30%30'],
    ['x'.repeat(129)],
  ])('%s can be no identifier', (segment) => {
    expect(find('GET', `/v1/things/${segment}`)).toMatchObject({ kind: 'route', valid: false, params: {} })
  })

  it('is never empty', () => {
    expect(find('GET', '/v1/things/')).toEqual({ kind: 'unknown' })
  })

  it('gives several in order', () => {
    const nested = compileRoutes([route({ paths: ['/v1/a/{first}/b/{second}'] })])
    expect(nested('GET', '/v1/a/1/b/2')).toMatchObject({ params: { first: '1', second: '2' } })
    expect(nested('GET', '/v1/a/1/c/2')).toEqual({ kind: 'unknown' })
  })
})

describe('a table with a mistake', () => {
  it('does not start without a permission level', () => {
    expect(() => compileRoutes([route({ permission: undefined as unknown as Permission })])).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining('test') }),
    )
  })

  it.each([
    ['of nobody', { belongsTo: undefined } as unknown as Partial<Route>],
    ['public, and of an organization', { permission: 'public' } as const],
    ['public, and of the operator', { permission: 'public', belongsTo: 'operator' } as const],
  ])('does not start with a route that is %s', (_title, change) => {
    expect(() => compileRoutes([route(change)])).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining('test must'),
      }),
    )
  })

  it('does not start with two routes for one address', () => {
    expect(() => compileRoutes([route(), route()])).toThrow('GET /v1/things/{id} is defined twice')
  })
})
