import type { SendsWithRecords } from '../core/accept/with-records.ts'
import { unknownChannel } from '../core/channels/kinds.ts'
import { suppressedAddress } from '../core/channels/recipient.ts'
import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
import type { AnyFeature, FeatureCore, FeatureParts } from '../core/feature.ts'
import { throttled } from '../core/loop/throttled.ts'
import { guarded } from './guarded.ts'
import { guardedJudge } from './judge.ts'
import type { Plugin, PluginCore, PluginParts } from './plugin.ts'
import {
  dueHandler,
  type PluginDueHandler,
  type PluginRecords,
  personalPluginRecords,
  pluginStore,
  type RecordRules,
  recordRules,
  sendWith,
} from './records.ts'
import { assertDistinct, servedRoute } from './served-route.ts'
import { wrong } from './wrong.ts'

/** What a plug-in needs beyond other features. */
export interface PluginServices extends FeatureCore, Pick<PluginCore, 'send'>, SendsWithRecords {
  /** A record was stored that falls due at this time, in epoch milliseconds. */
  fallsDue(at: number): void
  onError(error: unknown): void
}

/** A plug-in as a feature of a notifier. */
export function asFeature(plugin: Plugin): AnyFeature {
  const { name, records, errors } = plugin
  return {
    name,
    create(services: PluginServices): FeatureParts {
      const { clock } = services
      const rules = recordRules(name, records, clock)
      const core = coreOf(plugin, services, rules)
      for (const kind of records) services.stores.of(kind)
      const { api, routes = [], judge, due = [] } = partsOf(plugin, core)
      const tellFault = throttled(services.onError, () => clock.monotonic())
      return {
        api: { tenants: { [name]: methodsOf(name, api) } },
        routes: routes.map((each) => servedRoute(name, errors, each)),
        ...(judge === undefined ? {} : { judge: guardedJudge(name, judge, clock, rules, tellFault) }),
        personal: records.map((kind) => personalPluginRecords(kind, services.kinds)),
        due: due.map((handler) => dueHandler(handler, rules, clock)),
      }
    },
  }
}

const PREFIX = /^[a-z]{1,8}$/

function coreOf({ name, errors }: Plugin, services: PluginServices, rules: RecordRules): PluginCore {
  const { stores, clock, ids, kinds, organizations, notifications, send } = services
  return {
    records<Value extends object>(kind: PluginRecords<Value>) {
      rules.assertOwn(kind)
      return pluginStore(kind, stores.of(kind), rules)
    },
    now: () => clock.now(),
    newId(prefix) {
      if (!PREFIX.test(prefix))
        throw wrong(name, 'asks for an id without a prefix of 1 to 8 lower-case letters')
      return ids.random(prefix)
    },
    error(code, options) {
      const entry = Object.hasOwn(errors, code) ? errors[code] : undefined
      if (entry === undefined) throw wrong(name, `has no error "${code}". Add it to its "errors"`)
      const [status, message, action] = entry
      return new NotifierError(`${name}.${code}`, { message: `${message} ${action}`, ...options, status })
    },
    assertOrganization: (id) => organizations.existing(id),
    addressOf(channel, to) {
      const kind = kinds.known.get(channel)
      if (kind === undefined) throw unknownChannel(channel, kinds)
      return suppressedAddress(kind, to)
    },
    notification: (organizationId, id) => notifications.get(organizationId, id),
    async cancel(organizationId, id) {
      await notifications.cancel(organizationId, id)
    },
    send(organizationId, message, { idempotencyKey } = {}) {
      return send(organizationId, message, idempotencyKey === undefined ? {} : { idempotencyKey })
    },
    sendWith: (organizationId, writes) =>
      sendWith(organizationId, writes, services, rules, services.fallsDue),
  }
}

function partsOf(plugin: Plugin, core: PluginCore): PluginParts {
  let parts: PluginParts
  try {
    parts = plugin.setup(core)
  } catch (cause) {
    if (isNotifierError(cause)) throw cause
    throw wrong(plugin.name, 'failed in setup(): see `cause`', cause)
  }
  assertParts(plugin, parts)
  return parts
}

const PARTS = ['api', 'routes', 'judge', 'due']

function assertParts({ name, records }: Plugin, parts: PluginParts): void {
  if (typeof parts !== 'object' || parts === null || parts instanceof Promise)
    throw wrong(name, 'must return its parts from setup(), at once')
  const unknown = Object.keys(parts).find((member) => !PARTS.includes(member))
  if (unknown !== undefined) throw wrong(name, `returns an unknown part "${unknown}" from setup()`)
  const { api, judge, due = [], routes = [] } = parts
  if (typeof api !== 'object' || api === null)
    throw wrong(name, 'must return "api", an object of its methods')
  const other = Object.entries(api).find(([, member]) => typeof member !== 'function')
  if (other !== undefined) throw wrong(name, `has "${other[0]}" in "api", which is no function`)
  if (judge !== undefined && typeof judge !== 'function')
    throw wrong(name, 'has a "judge" that is no function')
  if (!Array.isArray(due) || !Array.isArray(routes))
    throw wrong(name, 'must return lists as "due" and "routes"')
  assertHandlers(name, records, due)
  assertDistinct(name, routes)
}

function assertHandlers(name: string, records: Plugin['records'], due: readonly PluginDueHandler[]): void {
  const handled = new Set<string>()
  for (const { kind, handle } of due) {
    if (!records.some((own) => own.name === kind?.name) || kind.due === undefined)
      throw wrong(
        name,
        `handles "${kind?.name}" when it falls due, which is no kind of its "records" with due()`,
      )
    if (typeof handle !== 'function') throw wrong(name, `needs a function handle() for "${kind.name}"`)
    if (handled.has(kind.name)) throw wrong(name, `has two handlers of "${kind.name}"`)
    handled.add(kind.name)
  }
  const forgotten = records.find((kind) => kind.due !== undefined && !handled.has(kind.name))
  if (forgotten !== undefined)
    throw wrong(name, `has records "${forgotten.name}" that fall due, and no handler: add onDue() to "due"`)
}

/** A plug-in checks its own arguments: none is refused as one too many. */
const ANY_NUMBER = 32

function methodsOf(plugin: string, api: PluginParts['api']): object {
  return Object.fromEntries(
    Object.entries(api).map(([name, method]) => {
      const call = (...input: never[]) =>
        guarded(plugin, () => (method as (...given: never[]) => unknown)(...input))
      return [name, Object.defineProperty(call, 'length', { value: ANY_NUMBER })]
    }),
  )
}
