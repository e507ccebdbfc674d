import { PERMISSIONS } from '../core/access/permissions.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { Route } from '../core/rest/route.ts'

/** A route and the parameters in its path. */
export interface RouteMatch {
  readonly kind: 'route'
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  /** False: a path parameter cannot be an identifier, however it is decoded. */
  readonly valid: boolean
  /** True under /admin: the query must name the organization. */
  readonly organizationRequired: boolean
}

/** Result of matching a path and a method. */
export type Match =
  | RouteMatch
  | { readonly kind: 'method'; readonly allow: string }
  | { readonly kind: 'unknown' }

/** Finds routes. Null: the path belongs to the host application. */
export type Router = (method: string, path: string) => Match | null

interface Node {
  readonly literal: Map<string, Node>
  parameter: Node | undefined
  methods: Map<string, CompiledRoute> | undefined
  allow: string
}

interface CompiledRoute {
  readonly route: Route
  readonly parameters: readonly string[]
  readonly organizationRequired: boolean
}

const OWN_PREFIX = /^\/(?:v1|admin)(?:\/|$)/
/** Ids of listeners have a dot. */
const IDENTIFIER = /^[\w-][\w.-]{0,127}$/
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})
const UNKNOWN: Match = Object.freeze({ kind: 'unknown' })

/**
 * Compiles the table of routes. Literal segments take precedence over parameters.
 *
 * @throws NotifierError `invalid_configuration` for a route without a permission level or an owner, or for two routes
 *   at one address
 */
export function compileRoutes(routes: readonly Route[]): Router {
  const root = newNode()
  const operations = new Set<string>()
  for (const route of routes) {
    if (route.permission !== 'public' && !PERMISSIONS.includes(route.permission))
      throw wrong(`${route.operation} has no permission level`)
    if ((route.permission === 'public') !== (route.belongsTo === undefined))
      throw wrong(`${route.operation} must belong to an organization or the operator, or be public`)
    for (const path of route.paths) add(root, path, route)
    if (operations.has(route.operation)) throw wrong(`the operation ${route.operation} is defined twice`)
    operations.add(route.operation)
  }
  return function findRoute(method, path) {
    const segments = path.split('/')
    const values: string[] = []
    const node = descend(root, segments, values)
    if (node?.methods === undefined) return OWN_PREFIX.test(path) ? UNKNOWN : null
    const found = node.methods.get(method)
    // Outside /v1 and /admin the API owns only exact operations.
    if (found === undefined) return OWN_PREFIX.test(path) ? { kind: 'method', allow: node.allow } : null
    const params = values.length === 0 ? NO_PARAMS : decodeParams(found.parameters, values)
    return {
      kind: 'route',
      route: found.route,
      params: params ?? NO_PARAMS,
      valid: params !== null,
      organizationRequired: found.organizationRequired,
    }
  }
}

function newNode(): Node {
  return { literal: new Map(), parameter: undefined, methods: undefined, allow: '' }
}

function add(root: Node, path: string, route: Route): void {
  const parameters: string[] = []
  let node = root
  for (const segment of path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      parameters.push(segment.slice(1, -1))
      node.parameter ??= newNode()
      node = node.parameter
    } else {
      const next = node.literal.get(segment) ?? newNode()
      node.literal.set(segment, next)
      node = next
    }
  }
  node.methods ??= new Map()
  if (node.methods.has(route.method)) throw wrong(`${route.method} ${path} is defined twice`)
  const compiled = { route, parameters, organizationRequired: path.startsWith('/admin/') }
  node.methods.set(route.method, compiled)
  // HTTP requires HEAD wherever there is GET. The response drops the body.
  if (route.method === 'GET') node.methods.set('HEAD', compiled)
  node.allow = [...node.methods.keys()].sort().join(', ')
}

function descend(root: Node, segments: readonly string[], values: string[]): Node | undefined {
  let node: Node | undefined = root
  for (let index = 1; index < segments.length && node !== undefined; index += 1) {
    const segment = segments[index] ?? ''
    const literal: Node | undefined = node.literal.get(segment)
    if (literal === undefined && segment !== '') values.push(segment)
    node = literal ?? (segment === '' ? undefined : node.parameter)
  }
  return node
}

/** Null: a value is not valid percent-encoding or not an identifier, so it cannot exist. */
function decodeParams(names: readonly string[], values: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const value = decodeSegment(values[index] ?? '')
    if (!IDENTIFIER.test(value)) return null
    params[name] = value
  }
  return params
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

function wrong(message: string): NotifierError {
  return new NotifierError('invalid_configuration', { message: `Route table: ${message}.` })
}
