import { CHANNELS, type ChannelName, isChannelName } from '../../domain/channel.ts'
import type { RetryPolicy } from '../../domain/retry.ts'
import type { Provider } from '../../ports/provider.ts'
import { assertKeys, assertMethods, assertObject, duration, wrong } from '../option-checks.ts'
import { configuredProvider, type ProviderSet } from '../providers.ts'

/** Providers that are asked in order: the first that is free, not resting and reaches the recipient gets a message. */
export interface OrderedProviders {
  readonly providers: readonly Provider[]
  readonly distribution?: 'ordered' | undefined
  readonly weights?: undefined
}

/** Providers that share the messages. */
export interface WeightedProviders {
  readonly providers: readonly Provider[]
  readonly distribution: 'weighted'
  /**
   * The share of each provider, by its name: `{ twilio: 3, vonage: 1 }` gives three messages of four to the first. What one
   * that rests, is full or does not reach a recipient cannot take goes to the others. Whole numbers from 1 to 1 000.
   */
  readonly weights: Readonly<Record<string, number>>
}

/** The providers of a channel: one, several in the order of preference, or several that share. */
export type ChannelProviders = Provider | readonly Provider[] | OrderedProviders | WeightedProviders

/**
 * The providers of one organization, made with its own credentials. Asked when the organization first needs them; what
 * it answers is kept while it is used, and closed when it has been idle for ten minutes, or when too many are open. Null:
 * the organization has none. Where it throws or rejects, or takes too long, the notifications of that organization wait.
 */
export type OrganizationProviders = (
  organizationId: string,
) => ChannelProviders | null | Promise<ChannelProviders | null>

/**
 * What the option `channels` takes for one channel. With `perOrganization` the listed providers serve the organizations for
 * which it answers null.
 */
export type ChannelOption =
  | ChannelProviders
  | OrganizationProviders
  | ((OrderedProviders | WeightedProviders) & {
      readonly perOrganization?: OrganizationProviders | undefined
    })

/** A channel as configured. */
export interface ChannelSource {
  /** The providers of all organizations that have none of their own. */
  readonly shared: ProviderSet | null
  readonly perOrganization: OrganizationProviders | null
}

export type ChannelSources = ReadonlyMap<ChannelName, ChannelSource>

const PROVIDER_NAME = /^[a-z0-9-]{1,64}$/
const MAX_WEIGHT = 1_000

/** @throws NotifierError `invalid_configuration`, naming the option and what is right */
export function resolveChannels(
  channels: {
    readonly [Name in ChannelName]?: ChannelOption | undefined
  },
): ChannelSources {
  assertObject('channels', channels)
  const sources = new Map<ChannelName, ChannelSource>()
  for (const [name, value] of Object.entries(channels)) {
    if (!isChannelName(name))
      throw wrong(`channels.${name}`, `left out: the channels are ${CHANNELS.join(', ')}`)
    if (value !== undefined) sources.set(name, resolveSource(name, value))
  }
  return sources
}

function resolveSource(name: ChannelName, value: ChannelOption): ChannelSource {
  if (typeof value === 'function') return { shared: null, perOrganization: value }
  if (!isList(value) || !('perOrganization' in value))
    return { shared: resolveProviders(`channels.${name}`, name, value, null), perOrganization: null }
  const { perOrganization = null, ...list } = value
  if (perOrganization !== null && typeof perOrganization !== 'function')
    throw wrong(`channels.${name}.perOrganization`, 'a function')
  return {
    shared: resolveProviders(`channels.${name}`, name, list as ChannelProviders, null),
    perOrganization,
  }
}

/**
 * @param option how errors call it
 * @param organizationId whose instances they are; null: everybody's
 * @throws NotifierError `invalid_configuration`
 */
export function resolveProviders(
  option: string,
  name: ChannelName,
  value: ChannelProviders,
  organizationId: string | null,
): ProviderSet {
  if (!isList(value)) {
    const plugins = Array.isArray(value) ? (value as readonly Provider[]) : [value as Provider]
    return { providers: resolvePlugins(option, name, plugins, organizationId), weights: null }
  }
  const more = organizationId === null ? ['perOrganization'] : []
  assertKeys(`${option}.`, value, ['providers', 'distribution', 'weights', ...more])
  if (!Array.isArray(value.providers)) throw wrong(`${option}.providers`, 'a list of at least one provider')
  const providers = resolvePlugins(`${option}.providers`, name, value.providers, organizationId)
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
  name: ChannelName,
  plugins: readonly Provider[],
  organizationId: string | null,
): ProviderSet['providers'] {
  if (plugins.length === 0) throw wrong(option, 'a provider or a list of at least one')
  const names = new Set<string>()
  for (const [index, plugin] of plugins.entries()) {
    const at = plugins.length > 1 ? `${option}[${index}]` : option
    assertChannel(at, name, plugin)
    if (names.has(plugin.name)) {
      throw wrong(
        `${at}.name`,
        `unique in its channel; "${plugin.name}" is there twice, give each a name of its own`,
      )
    }
    names.add(plugin.name)
  }
  return plugins.map((plugin) => configuredProvider(plugin, organizationId))
}

function assertChannel(at: string, name: ChannelName, plugin: Provider): void {
  assertMethods(at, plugin, ['send'])
  if (typeof plugin.name !== 'string' || !PROVIDER_NAME.test(plugin.name)) {
    throw wrong(`${at}.name`, '1 to 64 lower-case letters, digits and hyphens')
  }
  if (plugin.channel !== name)
    throw wrong(at, `a provider for ${name}; "${plugin.name}" is one for ${plugin.channel}`)
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
  for (const method of ['accepts', 'parseReceipts', 'open', 'check', 'close'] as const) {
    if (plugin[method] !== undefined && typeof plugin[method] !== 'function')
      throw wrong(`${at}.${method}`, 'a function')
  }
}

const LIMITS = [
  'maxConcurrent',
  'maxPerSecond',
  'timeoutMs',
  'retry',
  'onAmbiguous',
] as const satisfies readonly (keyof Provider)[]
/** Names that somebody gives to a limit. What else a provider keeps on its object is its own. */
const LIMIT_NAME =
  /^(?:max|min|rate|limit|timeout|retr|concurren|throttl|pace|onAmbig)|Per(?:Second|Minute|Hour|Day)$/i

/** A limit that no provider has would mean that there is none. */
function assertLimitNames(at: string, plugin: Provider): void {
  const wrongName = Object.entries(plugin).find(
    ([name, value]) =>
      typeof value !== 'function' && LIMIT_NAME.test(name) && !LIMITS.some((limit) => limit === name),
  )
  if (wrongName !== undefined)
    throw wrong(`${at}.${wrongName[0]}`, `left out: the limits are ${LIMITS.join(', ')}`)
}

/** A fraction above 1 would need a window in which "in any second" has no whole number. */
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
