import type { Plugin, PluginApi, PluginCore, PluginError, PluginParts } from './plugin.ts'
import type { PluginRecords } from './records.ts'
import { wrong } from './wrong.ts'

/** What a plug-in is defined by. */
export interface PluginDefinition<
  Name extends string,
  Api extends PluginApi,
  Errors extends Readonly<Record<string, PluginError>>,
> {
  /**
   * 1 to 30 lower-case letters. The name of its methods on an organization and of its
   * tag in the OpenAPI document; its records, routes, errors and reasons begin with it.
   */
  readonly name: Name
  /** Its kinds of records. Default: none. */
  readonly records?: readonly PluginRecords[] | undefined
  /** Its errors by code. Callers see `reactions.not_found`. Default: none. */
  readonly errors?: Errors | undefined
  /** Called once for a notifier, before it starts. Must do nothing but make the parts. */
  setup(core: PluginCore<keyof Errors & string>): PluginParts<Api>
}

const NAME = /^[a-z]{1,30}$/
/** Kinds of records are tables. */
const KIND = /^[a-z][a-z_]{0,39}$/
const CODE = /^[a-z][a-z0-9_]{0,39}$/
const MEMBERS = ['name', 'records', 'errors', 'setup']

/**
 * Defines a plug-in for the option `plugins` of `createNotifier`.
 *
 * @throws NotifierError `invalid_configuration`, which names the fault
 *
 * @example
 * const greeting = definePlugin({
 *   name: 'greeting',
 *   setup: ({ send }) => ({
 *     api: {
 *       greet: (organizationId: string, to: string) =>
 *         send(organizationId, { channel: 'email', to, subject: 'Hi', body: 'Welcome' }),
 *     },
 *   }),
 * })
 * const notifier = createNotifier({
 *   channels: { email: smtp({ host: 'smtp.example.com', from: 'Shop <shop@example.com>' }) },
 *   plugins: [greeting],
 * })
 * await notifier.greeting.greet('ada@example.com')
 */
export function definePlugin<
  const Name extends string,
  Api extends PluginApi,
  const Errors extends Readonly<Record<string, PluginError>> = Readonly<Record<never, PluginError>>,
>(definition: PluginDefinition<Name, Api, Errors>): Plugin<Name, Api> {
  if (typeof definition !== 'object' || definition === null)
    throw wrong('', 'needs a definition: { name, setup }')
  const { name, records = [], errors = {}, setup } = definition
  if (typeof name !== 'string' || !NAME.test(name))
    throw wrong(name, 'needs a name of 1 to 30 lower-case letters')
  const unknown = Object.keys(definition).find((member) => !MEMBERS.includes(member))
  if (unknown !== undefined)
    throw wrong(name, `has an unknown member "${unknown}". Its parts are what setup() returns`)
  if (typeof setup !== 'function') throw wrong(name, 'needs a function setup() that returns its parts')
  if (!Array.isArray(records)) throw wrong(name, 'must list its kinds in "records"')
  for (const kind of records) assertKind(name, kind)
  const names = records.map((kind) => kind.name)
  if (new Set(names).size < names.length) throw wrong(name, 'has two kinds of records with one name')
  for (const [code, entry] of Object.entries<PluginError>(errors)) assertError(name, code, entry)
  return { name, records, errors, setup: (core) => setup(core) }
}

function assertKind(name: string, kind: PluginRecords): void {
  const { name: own, version, upgrade, due, concerns } = (kind ?? {}) as Partial<PluginRecords>
  if (typeof own !== 'string' || !KIND.test(own) || (own !== name && !own.startsWith(`${name}_`)))
    throw wrong(
      name,
      `has records named "${own}". Name them "${name}", or "${name}_" and more lower-case letters, 40 characters at most`,
    )
  if (!Number.isInteger(version) || Number(version) < 1)
    throw wrong(name, `must give the records "${own}" a version, a whole number from 1`)
  if (version !== 1 && typeof upgrade !== 'function')
    throw wrong(
      name,
      `must say how to upgrade the records "${own}" from earlier versions: upgrade(value, from)`,
    )
  if (due !== undefined && typeof due !== 'function')
    throw wrong(name, `has a "due" of "${own}" that is no function`)
  if (typeof concerns !== 'function')
    throw wrong(name, `must say whom the records "${own}" concern: concerns(value), or () => null`)
}

function assertError(name: string, code: string, entry: PluginError): void {
  if (!CODE.test(code))
    throw wrong(name, `has the error "${code}". A code has lower-case letters, digits and "_"`)
  const [status, message, action] = Array.isArray(entry) ? entry : []
  if (
    !(Number(status) >= 400 && Number(status) < 500) ||
    typeof message !== 'string' ||
    typeof action !== 'string'
  )
    throw wrong(name, `must give the error "${code}" a status from 400 to 499, the fault and the remedy`)
}
