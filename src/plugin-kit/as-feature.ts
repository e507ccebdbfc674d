import type { SendsWithRecords } from '../core/accept/with-records.ts'
import { PERMISSIONS } from '../core/access/permissions.ts'
import { type ErrorCode, isErrorCode } from '../core/errors/catalogue.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { AnyFeature, FeatureCore, FeatureParts } from '../core/feature.ts'
import { parseInput } from '../core/input/parse.ts'
import { REQUESTS } from '../core/limits/route-limits.ts'
import { throttled } from '../core/loop/throttled.ts'
import type { Route, RouteError } from '../core/rest/route.ts'
import { wrong } from './define-plugin.ts'
import { guardedJudge } from './judge.ts'
import type { Plugin, PluginCore, PluginError, PluginParts } from './plugin.ts'
import { dueHandler, type PluginRecords, pluginStore, sendWith, soundValues } from './records.ts'
import type { PluginRoute } from './route.ts'

/** What a plug-in needs beyond other features. */
export interface PluginServices extends FeatureCore, Pick<PluginCore, 'send'>, SendsWithRecords {
  onError(error: unknown): void
}

/** A plug-in as a feature of a notifier. */
export function asFeature(plugin: Plugin): AnyFeature {
  const { name, records, errors } = plugin
  return {
    name,
    create(services: PluginServices): FeatureParts {
      const core = coreOf(plugin, services)
      for (const kind of records) services.stores.of(kind)
      const parts = plugin.setup(core)
      assertParts(plugin, parts)
      const { api, routes = [], judge, due = [] } = parts
      assertDistinct(name, routes)
      const tellFault = throttled(services.onError, () => services.clock.monotonic())
      return {
        api: { tenants: { [name]: methodsOf(api) } },
        routes: routes.map((each) => served(name, errors, each)),
        ...(judge === undefined ? {} : { judge: guardedJudge(name, judge, services.clock, tellFault) }),
        due: due.map((handler) => dueHandler(handler, soundValues(services.clock))),
      }
    },
  }
}

function coreOf({ name, records, errors }: Plugin, services: PluginServices): PluginCore {
  const { stores, clock, ids, organizations, notifications, send } = services
  const assertSound = soundValues(clock)
  return {
    records<Value extends object>(kind: PluginRecords<Value>) {
      if (!records.some((own) => own.name === kind.name))
        throw wrong(name, `asks for the records "${kind.name}", which are not in its "records"`)
      return pluginStore(kind, stores.of(kind), assertSound)
    },
    now: () => clock.now(),
    newId: (prefix) => ids.random(prefix),
    error(code, options) {
      const entry = errors[code]
      if (entry === undefined) throw wrong(name, `has no error "${code}". Add it to its "errors"`)
      const [status, message, action] = entry
      return new NotifierError(`${name}.${code}`, { status, message: `${message} ${action}`, ...options })
    },
    assertOrganization: (id) => organizations.existing(id),
    notification: (organizationId, id) => notifications.get(organizationId, id),
    send,
    sendWith: (organizationId, writes) => sendWith(organizationId, writes, services, assertSound),
  }
}

const PARTS = ['api', 'routes', 'judge', 'due']

function assertParts({ name, records }: Plugin, parts: PluginParts): void {
  if (typeof parts !== 'object' || parts === null || parts instanceof Promise)
    throw wrong(name, 'must return its parts from setup(), at once')
  const unknown = Object.keys(parts).find((member) => !PARTS.includes(member))
  if (unknown !== undefined) throw wrong(name, `returns an unknown part "${unknown}" from setup()`)
  const { api, due = [] } = parts
  if (typeof api !== 'object' || api === null)
    throw wrong(name, 'must return "api", an object of its methods')
  const other = Object.entries(api).find(([, member]) => typeof member !== 'function')
  if (other !== undefined) throw wrong(name, `has "${other[0]}" in "api", which is no function`)
  for (const { kind, handle } of due) {
    if (!records.some((own) => own.name === kind?.name) || kind.due === undefined)
      throw wrong(
        name,
        `handles "${kind?.name}" when it falls due, which is no kind of its "records" with due()`,
      )
    if (typeof handle !== 'function') throw wrong(name, `needs a function handle() for "${kind.name}"`)
  }
}

/** A plug-in checks its own arguments: none is refused as one too many. */
const ANY_NUMBER = 32

function methodsOf(api: PluginParts['api']): object {
  return Object.fromEntries(
    Object.entries(api).map(([name, method]) => {
      const call = async (...input: never[]) => (method as (...given: never[]) => unknown)(...input)
      return [name, Object.defineProperty(call, 'length', { value: ANY_NUMBER })]
    }),
  )
}

function assertDistinct(name: string, routes: readonly PluginRoute[]): void {
  const seen = new Set<string>()
  for (const { operation, method, path } of routes) {
    for (const each of [`the operation "${operation}"`, `${method} ${path}`]) {
      if (seen.has(each)) throw wrong(name, `has ${each} twice`)
      seen.add(each)
    }
  }
}

const METHODS: readonly string[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

function served(name: string, errors: Plugin['errors'], route: PluginRoute): Route<object> {
  const { operation, summary, method, path, permission, status = 200, body, query, response, handler } = route
  const about = `has a route "${operation}"`
  if (typeof operation !== 'string' || !/^[a-z][a-zA-Z0-9]{2,59}$/.test(operation))
    throw wrong(name, 'has a route without an operation, a name in camel case')
  if (typeof summary !== 'string' || summary === '') throw wrong(name, `${about} without a summary`)
  if (!METHODS.includes(method)) throw wrong(name, `${about} whose method is none of ${METHODS.join(', ')}`)
  if (path !== `/v1/${name}` && !path?.startsWith(`/v1/${name}/`))
    throw wrong(name, `${about} at "${path}". Its path must begin with "/v1/${name}"`)
  if (!PERMISSIONS.includes(permission))
    throw wrong(name, `${about} without a permission: ${PERMISSIONS.join(', ')}`)
  if (response === undefined || typeof handler !== 'function')
    throw wrong(name, `${about} without a schema of its response, or without a handler`)
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
    errors: (route.errors ?? []).map((code) => routeError(name, errors, about, code)),
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query }),
    response,
    async handler({ organizationId, params, body: given, query: asked }) {
      const request = {
        organizationId,
        params,
        body: body === undefined ? undefined : parseInput(body, given),
        query: query === undefined ? undefined : parseInput(query, asked, 'query'),
      }
      return { body: (await handler(request)) ?? {} }
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

function routeError(name: string, errors: Plugin['errors'], about: string, code: string): RouteError {
  const own: PluginError | undefined = errors[code]
  if (own !== undefined) return [`${name}.${code}`, own[0], own[1]]
  if (isErrorCode(code)) return code satisfies ErrorCode
  throw wrong(name, `${about} that answers the unknown error "${code}". Add it to its "errors"`)
}
