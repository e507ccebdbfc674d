import type { RetryPolicy } from '../delivery/retry-delay.ts'
import { nearestName } from '../input/nearest-name.ts'
import { assertKeys, assertMethods, assertObject, duration, wrong } from '../input/option-checks.ts'
import type { AnyKind, Provider } from '../ports/provider.ts'
import { BUILT_IN, type BuiltInInputs } from './built-in.ts'
import type { ChannelKind } from './channel-kind.ts'
import { assertKind } from './kinds.ts'
import { configuredProvider, type ProviderSet } from './providers.ts'

/** Providers in order: the first that is free, not paused and reaches the recipient gets the message. */
export interface OrderedProviders<Kind extends ChannelKind = AnyKind> {
  readonly providers: readonly Provider<Kind>[]
  readonly distribution?: 'ordered' | undefined
  readonly weights?: undefined
}

/** Providers that share the messages. */
export interface WeightedProviders<Kind extends ChannelKind = AnyKind> {
  readonly providers: readonly Provider<Kind>[]
  readonly distribution: 'weighted'
  /**
   * The share of each provider, by name: `{ twilio: 3, vonage: 1 }` gives three of four messages to the first. If a
   * provider is paused, full or cannot reach a recipient, the others take its messages. Whole numbers from 1 to 1 000.
   */
  readonly weights: Readonly<Record<string, number>>
}

/** The providers of a channel: one, several in order of preference, or several that share the messages. */
export type ChannelProviders<Kind extends ChannelKind = AnyKind> =
  | Provider<Kind>
  | readonly Provider<Kind>[]
  | OrderedProviders<Kind>
  | WeightedProviders<Kind>

/**
 * Returns the providers of an organization, made with its own credentials. Called when the organization first needs
 * them. They stay open while in use, and are closed after ten idle minutes or if too many are open. Null: the
 * organization has none. If it throws, rejects or times out, the notifications of that organization wait.
 */
export type OrganizationProviders<Kind extends ChannelKind = AnyKind> = (
  organizationId: string,
) => ChannelProviders<Kind> | null | Promise<ChannelProviders<Kind> | null>

/** Providers per organization; made by {@link perOrganization}. */
export interface PerOrganization<Kind extends ChannelKind = AnyKind> {
  readonly kind: Kind
  readonly providersOf: OrganizationProviders<Kind>
  /** Serve the organizations without their own providers. Null: these cannot use the channel. */
  readonly others: ChannelProviders<Kind> | null
}

/**
 * Gives each organization its own providers.
 *
 * @param others serve the organizations for which the function returns null; default: these cannot use the channel
 *
 * @example
 * const channels = {
 *   email: perOrganization(email, async (organizationId) => {
 *     const settings = await settingsOf(organizationId)
 *     return settings === null ? null : smtp(settings)
 *   }),
 * }
 */
export function perOrganization<Kind extends ChannelKind>(
  kind: Kind,
  providersOf: OrganizationProviders<Kind>,
  others: ChannelProviders<Kind> | null = null,
): PerOrganization<Kind> {
  return { kind, providersOf, others }
}

/** The option of one channel. */
export type ChannelOption<Kind extends ChannelKind = AnyKind> = ChannelProviders<Kind> | PerOrganization<Kind>

/** The option `channels`. */
export interface ChannelOptions {
  readonly [channel: string]: ChannelOption | undefined
}

/** The inputs of all channels of an option, under the channels' names. */
export type ChannelsOf<Options extends ChannelOptions> = {
  readonly [Name in keyof Options & string]: InputOf<KindIn<NonNullable<Options[Name]>>, Name>
}

/** Refuses a provider under the name of another channel. A provider of unknown kind is allowed anywhere. */
export type Checked<Options extends ChannelOptions> = {
  readonly [Name in keyof Options & string]: string extends KindIn<NonNullable<Options[Name]>>['name']
    ? Options[Name]
    : ChannelOption<ChannelKind<Name>> | undefined
}

type KindIn<Option> = Option extends { readonly kind?: infer Kind }
  ? [Extract<Kind, ChannelKind>] extends [never]
    ? ChannelKind
    : Extract<Kind, ChannelKind>
  : Option extends readonly (infer One)[] | { readonly providers: readonly (infer One)[] }
    ? KindIn<One>
    : ChannelKind

type InputOf<Kind extends ChannelKind, Name> = string extends Kind['name']
  ? Name extends keyof BuiltInInputs
    ? BuiltInInputs[Name]
    : unknown
  : Kind extends ChannelKind<string, infer Input, infer _Stored, infer _Parts>
    ? Input
    : never

/** A channel as configured. */
export interface ChannelSource {
  readonly kind: ChannelKind
  /** The providers of all organizations without their own. */
  readonly shared: ProviderSet | null
  readonly perOrganization: OrganizationProviders | null
}

export type ChannelSources = ReadonlyMap<string, ChannelSource>

const PROVIDER_NAME = /^[a-z0-9-]{1,64}$/
const MAX_WEIGHT = 1_000

/**
 * @param builtIn the built-in kinds, configured by the notifier's options
 * @throws NotifierError `invalid_configuration`, which names the option and the valid values
 */
export function resolveChannels(
  channels: ChannelOptions,
  builtIn: ReadonlyMap<string, ChannelKind>,
): ChannelSources {
  assertObject('channels', channels, '{ email: smtp({ … }) } with smtp from carillon/smtp')
  const sources = new Map<string, ChannelSource>()
  for (const [name, value] of Object.entries(channels)) {
    if (value !== undefined) sources.set(name, resolveSource(name, value, builtIn))
  }
  return sources
}

function resolveSource(
  name: string,
  value: ChannelOption,
  builtIn: ReadonlyMap<string, ChannelKind>,
): ChannelSource {
  const option = `channels.${name}`
  if (typeof value === 'function')
    throw wrong(option, 'a provider; for a function of the organization use perOrganization(kind, function)')
  const kind = kindOf(option, name, value, builtIn)
  if (!isPerOrganization(value))
    return { kind, shared: resolveProviders(option, kind, value, null), perOrganization: null }
  const { kind: given, providersOf, others } = value
  if (typeof providersOf !== 'function' || typeof given?.name !== 'string')
    throw wrong(option, 'perOrganization(kind, function)')
  assertName(option, name, given)
  const shared = others === null ? null : resolveProviders(option, kind, others, null)
  return { kind, shared, perOrganization: providersOf }
}

/** The kind of the providers, or else the built-in kind. */
function kindOf(
  option: string,
  name: string,
  value: ChannelOption,
  builtIn: ReadonlyMap<string, ChannelKind>,
): ChannelKind {
  const own = builtIn.get(name)
  if (own !== undefined) return own
  const [first] = isPerOrganization(value) ? [value] : pluginsOf(value)
  const kind = first?.kind
  if (kind === undefined) {
    const known = [...builtIn.keys()]
    const nearest = nearestName(name, known)
    const hint = nearest === null ? '' : ` (did you mean "${nearest}"?)`
    throw wrong(option, `left out${hint}, or have a provider with a kind: built in are ${known.join(', ')}`)
  }
  assertKind(option, kind)
  assertName(option, name, kind)
  return kind
}

function assertName(at: string, name: string, kind: ChannelKind): void {
  if (kind.name !== name) throw wrong(at, `a provider for ${name}; this one is for ${kind.name}`)
}

function isPerOrganization(value: ChannelOption): value is PerOrganization {
  return typeof value === 'object' && value !== null && 'providersOf' in value
}

function pluginsOf(value: ChannelProviders): readonly Provider[] {
  if (isList(value)) return Array.isArray(value.providers) ? value.providers : []
  return Array.isArray(value) ? (value as readonly Provider[]) : [value as Provider]
}

/**
 * @param option its name in errors
 * @param organizationId the owner of the instances; null: shared
 * @throws NotifierError `invalid_configuration`
 */
export function resolveProviders(
  option: string,
  kind: ChannelKind,
  value: ChannelProviders,
  organizationId: string | null,
): ProviderSet {
  if (!isList(value))
    return { providers: resolvePlugins(option, kind, pluginsOf(value), organizationId), weights: null }
  assertKeys(`${option}.`, value, ['providers', 'distribution', 'weights'])
  if (!Array.isArray(value.providers)) throw wrong(`${option}.providers`, 'a list of at least one provider')
  const providers = resolvePlugins(`${option}.providers`, kind, value.providers, organizationId)
  const { distribution = 'ordered' } = value
  if (distribution !== 'ordered' && distribution !== 'weighted')
    throw wrong(`${option}.distribution`, '"ordered" or "weighted"')
  if (distribution === 'ordered') {
    if (value.weights !== undefined)
      throw wrong(`${option}.weights`, 'left out, unless "distribution" is "weighted"')
    return { providers, weights: null }
  }
  const names = providers.map((provider) => provider.name)
  return { providers, weights: resolveWeights(`${option}.weights`, value.weights, names) }
}

function isList(value: ChannelProviders): value is OrderedProviders | WeightedProviders {
  return typeof value === 'object' && value !== null && 'providers' in value && !('send' in value)
}

function resolveWeights(
  option: string,
  weights: WeightedProviders['weights'] | undefined,
  names: readonly string[],
): ReadonlyMap<string, number> {
  const right = `an object with a weight for each provider: ${names.join(', ')}`
  if (typeof weights !== 'object' || weights === null) throw wrong(option, right)
  for (const name of Object.keys(weights)) {
    if (!names.includes(name))
      throw wrong(`${option}.${name}`, `left out: the providers are ${names.join(', ')}`)
  }
  return new Map(
    names.map((name) => {
      const weight = Object.hasOwn(weights, name) ? weights[name] : undefined
      if (weight === undefined) throw wrong(option, right)
      if (!Number.isInteger(weight) || weight < 1 || weight > MAX_WEIGHT)
        throw wrong(`${option}.${name}`, `a whole number from 1 to ${MAX_WEIGHT}`)
      return [name, weight]
    }),
  )
}

function resolvePlugins(
  option: string,
  kind: ChannelKind,
  plugins: readonly Provider[],
  organizationId: string | null,
): ProviderSet['providers'] {
  if (plugins.length === 0) throw wrong(option, 'a provider or a list of at least one')
  const names = new Set<string>()
  for (const [index, plugin] of plugins.entries()) {
    const at = plugins.length > 1 ? `${option}[${index}]` : option
    assertProvider(at, kind, plugin)
    if (names.has(plugin.name)) {
      throw wrong(`${at}.name`, `unique in its channel; "${plugin.name}" is used twice`)
    }
    names.add(plugin.name)
  }
  return plugins.map((plugin) => configuredProvider(plugin, kind, organizationId))
}

function assertSameKind(at: string, kind: ChannelKind, plugin: Provider): void {
  if (plugin.kind === undefined || plugin.kind === kind) return
  assertName(at, kind.name, plugin.kind)
  // Built-in kinds follow the notifier's options, so the kinds that providers carry are ignored.
  if (BUILT_IN.has(kind.name)) return
  throw wrong(`${at}.kind`, `the same kind as the others: two different kinds are named ${kind.name}`)
}

const HOOKS = [
  'accepts',
  'refuses',
  'threadIdOf',
  'parseReceipts',
  'confirmReceipts',
  'open',
  'check',
  'close',
] as const

function assertProvider(at: string, kind: ChannelKind, plugin: Provider): void {
  assertMethods(at, plugin, ['send'])
  if (typeof plugin.name !== 'string' || !PROVIDER_NAME.test(plugin.name)) {
    throw wrong(`${at}.name`, '1 to 64 lower-case letters, digits and hyphens')
  }
  assertSameKind(at, kind, plugin)
  assertLimits(at, plugin)
  assertSenders(at, plugin)
  for (const method of HOOKS) {
    if (plugin[method] !== undefined && typeof plugin[method] !== 'function')
      throw wrong(`${at}.${method}`, 'a function')
  }
}

function assertSenders(at: string, { senders }: Provider): void {
  const given: unknown = senders ?? []
  if (!Array.isArray(given) || given.some((sender) => typeof sender !== 'string'))
    throw wrong(`${at}.senders`, 'a list of addresses and domains')
}

function assertLimits(at: string, plugin: Provider): void {
  assertLimitNames(at, plugin)
  const { maxConcurrent, maxPerSecond, timeoutMs, retry, onAmbiguous } = plugin
  if (maxConcurrent !== undefined && (!Number.isInteger(maxConcurrent) || maxConcurrent < 1)) {
    throw wrong(`${at}.maxConcurrent`, 'a whole number of at least 1')
  }
  if (maxPerSecond !== undefined) assertPace(`${at}.maxPerSecond`, maxPerSecond)
  if (timeoutMs !== undefined) duration(`${at}.timeoutMs`, timeoutMs)
  if (retry !== undefined) assertRetry(`${at}.retry`, retry)
  if (onAmbiguous !== undefined && onAmbiguous !== 'retry' && onAmbiguous !== 'fail')
    throw wrong(`${at}.onAmbiguous`, '"retry" or "fail"')
}

const LIMITS = [
  'maxConcurrent',
  'maxPerSecond',
  'timeoutMs',
  'retry',
  'onAmbiguous',
] as const satisfies readonly (keyof Provider)[]
/** Names that suggest a limit. A provider may have any other members. */
const LIMIT_NAME =
  /^(?:max|min|rate|limit|timeout|retr|concurren|throttl|pace|onAmbig)|Per(?:Second|Minute|Hour|Day)$/i

/** A misspelt limit would mean no limit. */
function assertLimitNames(at: string, plugin: Provider): void {
  const wrongName = Object.entries(plugin).find(
    ([name, value]) =>
      typeof value !== 'function' && LIMIT_NAME.test(name) && !LIMITS.some((limit) => limit === name),
  )
  if (wrongName !== undefined)
    throw wrong(`${at}.${wrongName[0]}`, `left out: the limits are ${LIMITS.join(', ')}`)
}

/** With a fraction above 1, no window of whole messages equals "in any second". */
function assertPace(option: string, value: number): void {
  const whole = Number.isInteger(value) && value >= 1
  const fraction = typeof value === 'number' && value >= 0.001 && value < 1
  if (!whole && !fraction)
    throw wrong(option, 'a whole number of at least 1, or a fraction from 0.001 to below 1')
}

function assertRetry(option: string, retry: RetryPolicy): void {
  assertObject(option, retry)
  switch (retry.kind) {
    case 'exponential':
      assertKeys(`${option}.`, retry, ['kind', 'maxAttempts', 'baseMs', 'capMs'])
      if (!Number.isInteger(retry.maxAttempts) || retry.maxAttempts < 1)
        throw wrong(`${option}.maxAttempts`, 'a whole number of at least 1')
      duration(`${option}.baseMs`, retry.baseMs)
      duration(`${option}.capMs`, retry.capMs)
      return
    case 'schedule':
      assertKeys(`${option}.`, retry, ['kind', 'delaysMs', 'jitter'])
      if (!Array.isArray(retry.delaysMs) || !retry.delaysMs.every((ms) => Number.isFinite(ms) && ms >= 0))
        throw wrong(`${option}.delaysMs`, 'a list of milliseconds of at least 0')
      if (!(retry.jitter >= 0 && retry.jitter <= 1)) throw wrong(`${option}.jitter`, 'a number from 0 to 1')
      return
    default:
      throw wrong(`${option}.kind`, '"exponential" or "schedule"')
  }
}
