import { PERMISSIONS } from '../core/access/permissions.ts'
import { type ErrorCode, isErrorCode } from '../core/errors/catalogue.ts'
import { parseInput } from '../core/input/parse.ts'
import { REQUESTS } from '../core/limits/route-limits.ts'
import type { Route, RouteError } from '../core/rest/route.ts'
import { idempotencyKey } from '../core/rest/send-headers.ts'
import { guarded } from './guarded.ts'
import type { Plugin, PluginError } from './plugin.ts'
import type { PluginRoute } from './route.ts'
import { wrong } from './wrong.ts'

/** @throws NotifierError `invalid_configuration` for two routes of one name or address */
export function assertDistinct(name: string, routes: readonly PluginRoute[]): void {
  const seen = new Set<string>()
  for (const { operation, method, path } of routes) {
    for (const each of [`the operation "${operation}"`, `${method} ${path}`]) {
      if (seen.has(each)) throw wrong(name, `has ${each} twice`)
      seen.add(each)
    }
  }
}

const OPERATION = /^[a-z][a-zA-Z0-9]{2,59}$/
const METHODS: readonly string[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']
const SEGMENTS = /^(?:\/(?:[a-z][a-z0-9-]*|\{\w+\}))+$/

function assertRoute(name: string, route: PluginRoute): void {
  const { operation, summary, permission, status = 200, handler } = route
  if (typeof operation !== 'string' || !OPERATION.test(operation))
    throw wrong(
      name,
      `has a route "${operation}". Its operation is a name in camel case of 3 to 60 characters`,
    )
  const about = `has a route "${operation}"`
  if (typeof summary !== 'string' || summary === '') throw wrong(name, `${about} without a summary`)
  assertAddress(name, about, route)
  if (!PERMISSIONS.includes(permission))
    throw wrong(name, `${about} without a permission: ${PERMISSIONS.join(', ')}`)
  if (status !== 200 && status !== 201) throw wrong(name, `${about} whose status is neither 200 nor 201`)
  assertSchemas(name, about, route)
  if (typeof handler !== 'function') throw wrong(name, `${about} without a handler`)
}

function assertAddress(name: string, about: string, { method, path }: PluginRoute): void {
  if (!METHODS.includes(method)) throw wrong(name, `${about} whose method is none of ${METHODS.join(', ')}`)
  if (typeof path !== 'string' || (path !== `/v1/${name}` && !path.startsWith(`/v1/${name}/`)))
    throw wrong(name, `${about} at "${path}". Its path must begin with "/v1/${name}"`)
  if (!SEGMENTS.test(path))
    throw wrong(
      name,
      `${about} at "${path}". A segment has lower-case letters, digits and "-", or is a parameter: {id}`,
    )
}

function assertSchemas(name: string, about: string, { method, body, query, response }: PluginRoute): void {
  if (method === 'GET' && body !== undefined) throw wrong(name, `${about} of the method GET with a body`)
  for (const [part, schema] of Object.entries({ body, query })) {
    if (schema !== undefined && !isObjectSchema(schema))
      throw wrong(name, `${about} whose "${part}" is no Zod schema of an object`)
  }
  if (!isSchema(response)) throw wrong(name, `${about} without a Zod schema of its response`)
}

/** Also one of another copy of Zod. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '_zod' in value
}

function isObjectSchema(value: unknown): boolean {
  const { _zod: inside } = value as { readonly _zod?: { readonly def?: { readonly type?: unknown } } }
  return inside?.def?.type === 'object'
}

/** A route as HTTP serves it. @throws NotifierError `invalid_configuration` */
export function servedRoute(name: string, errors: Plugin['errors'], route: PluginRoute): Route<object> {
  assertRoute(name, route)
  const { operation, summary, method, path, permission, status = 200, body, query, response, handler } = route
  return {
    operation,
    summary,
    tag: tagOf(name),
    method,
    paths: [path],
    belongsTo: 'organization',
    permission,
    limit: REQUESTS,
    status,
    errors: (route.errors ?? []).map((code) => routeError(name, errors, operation, code)),
    // Test mode would send.
    ...(method === 'GET' ? {} : { delivers: true as const }),
    ...(route.idempotencyKey === true ? { requestHeaders: ['Idempotency-Key'] as const } : {}),
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query }),
    response,
    async handler({ request, organizationId, params, body: given, query: asked }) {
      const validated = {
        organizationId,
        params,
        body: body === undefined ? undefined : parseInput(body, given),
        query: query === undefined ? undefined : parseInput(query, asked, 'query'),
        idempotencyKey: route.idempotencyKey === true ? idempotencyKey(request) : undefined,
      }
      return { body: (await guarded(name, () => handler(validated))) ?? {} }
    },
  }
}

const tags = new Map<string, Route['tag']>()

/** The same object for all routes of a plug-in. */
function tagOf(name: string): Route['tag'] {
  const tag = tags.get(name) ?? { name, description: `The plug-in "${name}".` }
  tags.set(name, tag)
  return tag
}

function routeError(name: string, errors: Plugin['errors'], operation: string, code: string): RouteError {
  const own: PluginError | undefined = Object.hasOwn(errors, code) ? errors[code] : undefined
  if (own !== undefined) return [`${name}.${code}`, own[0], own[1]]
  if (isErrorCode(code)) return code satisfies ErrorCode
  throw wrong(
    name,
    `has a route "${operation}" that answers the unknown error "${code}". Add it to its "errors"`,
  )
}
