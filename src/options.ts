import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import { builtInKinds } from './core/channels/built-in.ts'
import { type ChannelOptions, type ChannelSources, resolveChannels } from './core/channels/channel-option.ts'
import { createKinds, type Kinds } from './core/channels/kinds.ts'
import { headerNameFault, needsPermission } from './core/channels/mail-headers.ts'
import { LONGEST_LEASE_MS } from './core/delivery/lease.ts'
import { isNotifierError } from './core/errors/notifier-error.ts'
import {
  BOUND_NAMES,
  type Bounds,
  type BoundsOptions,
  counted,
  DEFAULT_BOUNDS,
  HIGHEST_BOUNDS,
} from './core/input/bounds.ts'
import { definedOf } from './core/input/defined.ts'
import { assertKeys, assertMethods, assertObject, duration, wrong } from './core/input/option-checks.ts'
import { memoryRateLimiter } from './core/limits/memory-rate-limiter.ts'
import { DEFAULT_OVERUSE, type OverusePolicy } from './core/limits/request-limits.ts'
import { type PageOptions, resolvePageTexts } from './core/links/page-options.ts'
import type { PageTextsByLanguage } from './core/links/page-texts.ts'
import { publicUrlOf } from './core/links/public-url.ts'
import { systemClock } from './core/loop/system-clock.ts'
import { redactingLogger } from './core/observe/redacting-logger.ts'
import { silentLogger } from './core/observe/silent-logger.ts'
import type { Clock } from './core/ports/clock.ts'
import type { Logger } from './core/ports/logger.ts'
import type { OutgoingHttp, ProxyFor } from './core/ports/outgoing.ts'
import type { Queue } from './core/ports/queue.ts'
import type { RateLimiter } from './core/ports/rate-limiter.ts'
import type { Storage } from './core/ports/storage/storage.ts'
import type { Telemetry } from './core/ports/telemetry.ts'
import { type Plans, perMinutePlans } from './core/tenancy/plans.ts'
import {
  daysOf,
  OWN_RETENTION,
  RETENTION_DAYS,
  type RetainedData,
  type RetentionDays,
} from './core/tenancy/retention.ts'
import {
  type AttachmentOptions,
  type ResolvedAttachments,
  resolveAttachments,
} from './features/attachments/options.ts'
import type { CategorySettings } from './features/categories/input.ts'
import { type CodeCategories, resolveCategories } from './features/categories/options.ts'
import {
  type RecipientOptions,
  type ResolvedRecipients,
  resolveRecipients,
} from './features/recipients/options.ts'
import { guardedHttp } from './outgoing/guarded-http.ts'
import { canMatch, type ProxyOptions, proxyFrom } from './outgoing/proxy.ts'
import type { Plugin } from './plugin-kit/plugin.ts'
import {
  AUTHORING_OPTIONS,
  type AuthoringOptions,
  type ResolvedAuthoring,
  resolveAuthoring,
} from './text-options.ts'

/** Options of `createNotifier` for a notifier in which every call names its organization. */
export interface MultiTenantOptions<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
> extends Omit<NotifierOptions<Tx, Channels, Templates>, 'organizations'> {
  readonly organizations: 'required'
}

/** Options of `createNotifier`. `Tx` is the storage's type for a transaction of the caller. */
export interface NotifierOptions<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
> extends AuthoringOptions<Templates> {
  /**
   * The providers of each channel: one, several in order of preference or by weight, or `perOrganization()`. The keys
   * are channel names.
   */
  readonly channels: Channels
  /**
   * `required`: only `organization(id)` can send, so that no call acts for `org_default` by mistake. Default
   * `optional`.
   */
  readonly organizations?: 'optional' | undefined
  /**
   * Keeps all data. Closed when the notifier stops. Default: SQLite in memory, for this notifier alone; the end of
   * the process loses it.
   */
  readonly storage?: Storage<Tx> | undefined
  /**
   * Encrypts stored secrets: at least 32 characters, the same in all processes. A list rotates: the first encrypts,
   * all decrypt. Default: generated once and kept in the storage.
   */
  readonly secret?: string | readonly string[] | undefined
  /** The console, pino, winston or a similar logger, behind a redaction of secrets and contents. Default: none. */
  readonly logger?: Logger | undefined
  /** `masked`: `a***@example.com` and `+49…12`. Default `masked`. */
  readonly logRecipients?: 'masked' | 'shown' | undefined
  /** `prometheusMetrics()`, `openTelemetry()`, or a list of both. Default: none. */
  readonly telemetry?: Telemetry | readonly Telemetry[] | undefined
  readonly webhooks?: WebhookEventOptions | undefined
  /**
   * The HTTP proxy of all providers but `smtp`, which has its own. Webhook endpoints and web push go directly,
   * because a proxy would hide the address from the guard. Default: `HTTPS_PROXY`, if Node.js uses it
   * (`NODE_USE_ENV_PROXY=1`).
   */
  readonly proxy?: string | ProxyOptions | undefined
  /**
   * `perMinutePlans`, `perSecondPlans` or the application's own. A plan named `org_default` also limits the default
   * organization. Default: `perMinutePlans`.
   */
  readonly plans?: Plans | undefined
  /** Counts requests and notifications. Default: `memoryRateLimiter()`, which counts in this process. */
  readonly rateLimiter?: RateLimiter | undefined
  /**
   * When to restrict an organization that stays far above its limit. Default: after refusals above five times the
   * limit within ten minutes, for five minutes. False: never.
   */
  readonly overuse?: OverusePolicy | false | undefined
  /**
   * Categories of messages by id, which people turn on and off. `default` is that of messages without one. Default:
   * only that.
   */
  readonly categories?: Readonly<Record<string, CategorySettings>> | undefined
  /** Looks up the addresses of people. Default: none; a message to a `recipient` is refused. */
  readonly recipients?: RecipientOptions | undefined
  readonly attachments?: AttachmentOptions | undefined
  readonly email?: EmailOptions | undefined
  readonly sms?: SmsOptions | undefined
  readonly retention?: RetentionOptions | undefined
  readonly pages?: PageOptions | undefined
  readonly bounds?: BoundsOptions | undefined
  /**
   * Public address of the REST API: `https://api.example.com/notifications`. Needed for links in messages and for
   * receipts that sign the address.
   */
  readonly publicUrl?: string | undefined
  readonly delivery?: DeliveryOptions | undefined
  /**
   * `graphileWorkerQueue()` or `bullmqQueue()`, which spread deliveries over processes. Default: none; the processes
   * claim from the storage, which is faster.
   */
  readonly queue?: Queue | undefined
  /**
   * Plug-ins: `[reactions()]`. Those that judge messages are asked in this order, after suppressions and preferences.
   * Default: none.
   */
  readonly plugins?: readonly Plugin[] | undefined
  /** Source of the time; tests pass that of `carillon/testing`. Default: the runtime's clock. */
  readonly clock?: Clock | undefined
}

/** Rules for mails of all providers. */
export interface EmailOptions {
  /**
   * Headers that messages may set although mail systems act on them, such as `X-PM-Tag`. Default: none, because such
   * a header can choose another sender, recipients or templates.
   */
  readonly allowedHeaders?: readonly string[] | undefined
}

/** Rules for text messages of all providers. The permitted countries are a setting of each organization. */
export interface SmsOptions {
  /** Most segments of a text; a longer one is refused with `message_too_large`. Default 10. */
  readonly maxSegments?: number | undefined
  /**
   * `possible`: the country uses the length. `valid`: the number also matches the numbering plan, which refuses some
   * test numbers and new ranges. Default `possible`.
   */
  readonly numbers?: 'possible' | 'valid' | undefined
}

/** How many days each kind of data is kept: at least 1. False: forever. */
export interface RetentionOptions {
  /**
   * Texts, variables, files and other parts of ended notifications, from the last event on. Default false: with the
   * notification.
   */
  readonly contentDays?: number | false | undefined
  /** Ended notifications with their log and webhook deliveries, from the last event on. Default 90. */
  readonly logDays?: number | false | undefined
  /** Entries of the audit log. Default 365. */
  readonly auditDays?: number | false | undefined
}

/** Delivery of events to webhook endpoints. */
export interface WebhookEventOptions {
  /** CIDR blocks that the guard against private addresses lets through, for development. Default: none. */
  readonly allow?: readonly string[] | undefined
  /** Accept plain HTTP endpoints, for development. Default false. */
  readonly allowHttp?: boolean | undefined
}

export interface DeliveryOptions {
  /**
   * How long a silent process keeps its claimed jobs, in milliseconds: at least twice the longest timeout of a
   * provider, at most two hours. Default: that, but at least 60 000, and 120 000 with `perOrganization()`.
   */
  readonly leaseMs?: number | undefined
  /**
   * Longest delay until this process sees work of others, or jobs that a `queue` lost, in milliseconds. Default 1
   * 000; with a `queue` 5 000.
   */
  readonly pollMs?: number | undefined
  /**
   * Longest pause of a provider after its faults, in milliseconds. One message then probes it. Default 3 600 000 (one
   * hour).
   */
  readonly maxPauseMs?: number | undefined
}

/** The options with all defaults. */
export interface ResolvedOptions extends ResolvedAuthoring {
  readonly organizations: 'optional' | 'required'
  readonly sources: ChannelSources
  readonly kinds: Kinds
  readonly categories: CodeCategories
  /** Null: none. */
  readonly recipients: ResolvedRecipients | null
  readonly attachments: ResolvedAttachments
  readonly pageTexts: PageTextsByLanguage
  readonly bounds: Bounds
  readonly storage: Storage<unknown>
  readonly secrets: readonly string[]
  /** With redaction. */
  readonly logger: Logger
  /** False: the silent logger. */
  readonly hasLogger: boolean
  readonly telemetry: readonly Telemetry[]
  readonly outgoing: OutgoingHttp
  readonly proxyFor: ProxyFor
  readonly plans: Plans
  readonly limiter: RateLimiter
  /** The limiter of this process. Replaces `limiter` while that is unavailable. */
  readonly localLimiter: RateLimiter
  readonly overuse: OverusePolicy | null
  readonly retention: RetentionDays
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined
  readonly leaseMs: number
  readonly pollMs: number
  readonly queue: Queue | null
  readonly plugins: readonly Plugin[]
  readonly maxPauseMs: number
  readonly clock: Clock
}

const DEFAULT_LEASE_MS = 60_000
/** Twice the longest default timeout of a built-in provider (SMTP). */
const ORGANIZATIONS_LEASE_MS = 120_000
const DEFAULT_POLL_MS = 1_000
const DEFAULT_QUEUE_POLL_MS = 5_000
const DEFAULT_SMS_SEGMENTS = 10
const MIN_SECRET_LENGTH = 32
const DEFAULT_MAX_PAUSE_MS = 3_600_000
const PLAN_COUNTS = [
  'notificationsPerHour',
  'concurrentRequests',
  'notificationsPerMonth',
  'storedBytes',
] as const
const PLAN_FIELDS = ['requests', ...PLAN_COUNTS, 'retention'] as const

/**
 * @param defaultStorage creates the storage if there is none in the options
 * @throws NotifierError `invalid_configuration`, which names the option and the valid values
 */
export function resolveOptions<Tx>(
  options: NotifierOptions<Tx> | MultiTenantOptions<Tx>,
  defaultStorage: (clock: Clock) => Storage<unknown>,
): ResolvedOptions {
  if (typeof options !== 'object' || options === null)
    throw wrong('options', 'an object with at least "channels"')
  assertKeys('', options, [
    'channels',
    'organizations',
    'storage',
    'secret',
    'logger',
    'logRecipients',
    'telemetry',
    'webhooks',
    'proxy',
    'plans',
    'rateLimiter',
    'overuse',
    'categories',
    'recipients',
    'attachments',
    'email',
    'sms',
    'retention',
    'pages',
    'publicUrl',
    'delivery',
    'queue',
    'plugins',
    'clock',
    'bounds',
    ...AUTHORING_OPTIONS,
  ])
  const { webhooks = {}, delivery = {}, queue, organizations = 'optional' } = options
  if (organizations !== 'optional' && organizations !== 'required')
    throw wrong('organizations', '"optional" or "required"')
  if (queue !== undefined) assertMethods('queue', queue, ['open', 'enqueue', 'work', 'close'])
  assertObject('webhooks', webhooks)
  assertKeys('webhooks.', webhooks, ['allow', 'allowHttp'])
  assertObject('delivery', delivery)
  assertKeys('delivery.', delivery, ['leaseMs', 'pollMs', 'maxPauseMs'])
  const { maxSegments: maxSmsSegments = DEFAULT_SMS_SEGMENTS, numbers: smsNumbers = 'possible' } = assertSms(
    options.sms,
  )
  const { clock = systemClock(), logger = silentLogger(), logRecipients = 'masked' } = options
  assertMethods('clock', clock, ['now', 'monotonic', 'timer'])
  assertMethods('logger', logger, ['debug', 'info', 'warn', 'error'], 'console')
  if (logRecipients !== 'masked' && logRecipients !== 'shown')
    throw wrong('logRecipients', '"masked" or "shown"')
  const { storage = defaultStorage(clock), rateLimiter: limiter = memoryRateLimiter({ clock }) } = options
  assertMethods(
    'storage',
    storage,
    ['start', 'stop', 'accept', 'claim', 'settle'],
    "sqlite({ file: 'notifications.db' }) from carillon/sqlite",
  )
  assertMethods('rateLimiter', limiter, ['consume', 'peek', 'refund', 'pause', 'renew', 'release', 'close'])
  const builtIn = builtInKinds({ allowedHeaders: resolveHeaders(options.email), maxSmsSegments, smsNumbers })
  const bounds = resolveBounds(options.bounds)
  const sources = resolveChannels(options.channels, builtIn)
  const configured = [...sources].map(([name, { kind }]) => [name, kind] as const)
  const kinds = createKinds(new Map([...builtIn, ...configured]))
  const providers = [...sources.values()].flatMap(({ shared }) => shared?.providers ?? [])
  const longest = Math.max(0, ...providers.map(({ timeoutMs }) => timeoutMs))
  const someOwn = [...sources.values()].some(({ perOrganization }) => perOrganization !== null)
  const {
    leaseMs = Math.max(someOwn ? ORGANIZATIONS_LEASE_MS : DEFAULT_LEASE_MS, 2 * longest),
    pollMs = queue === undefined ? DEFAULT_POLL_MS : DEFAULT_QUEUE_POLL_MS,
    maxPauseMs = DEFAULT_MAX_PAUSE_MS,
  } = delivery
  duration('delivery.leaseMs', leaseMs)
  if (leaseMs > LONGEST_LEASE_MS) {
    throw wrong(
      'delivery.leaseMs',
      `at most ${LONGEST_LEASE_MS}, two hours; no provider's timeout may be longer than half of that`,
    )
  }
  if (leaseMs < 2 * longest) {
    throw wrong(
      'delivery.leaseMs',
      `at least ${2 * longest}, twice the longest timeout of a provider (${longest} ms)`,
    )
  }
  return {
    organizations,
    sources,
    kinds,
    categories: resolveCategories(options.categories, kinds),
    recipients: resolveRecipients(options.recipients),
    attachments: resolveAttachments(options.attachments),
    pageTexts: resolvePageTexts(options.pages),
    publicUrl: publicUrlOf(options.publicUrl),
    storage,
    logger: redactingLogger(logger, { showRecipients: logRecipients === 'shown' }),
    hasLogger: options.logger !== undefined,
    telemetry: resolveTelemetry(options.telemetry),
    clock,
    leaseMs,
    limiter,
    localLimiter: memoryRateLimiter({ clock }),
    plans: resolvePlans(options.plans),
    overuse: resolveOveruse(options.overuse),
    retention: resolveRetention(options.retention),
    secrets: resolveSecrets(options.secret),
    pollMs: duration('delivery.pollMs', pollMs),
    queue: queue ?? null,
    plugins: resolvePlugins(options.plugins),
    maxPauseMs: duration('delivery.maxPauseMs', maxPauseMs),
    outgoing: resolveWebhooks(webhooks),
    proxyFor: resolveProxy(options.proxy),
    bounds,
    ...resolveAuthoring(options, kinds, [...sources.keys()], bounds),
  }
}

function resolveTelemetry(telemetry: NotifierOptions['telemetry'] = []): readonly Telemetry[] {
  const plugins = Array.isArray(telemetry) ? (telemetry as readonly Telemetry[]) : [telemetry as Telemetry]
  for (const plugin of plugins) {
    assertObject('telemetry', plugin)
    if (typeof plugin.name !== 'string') throw wrong('telemetry', 'a plug-in with a name, or a list of them')
  }
  if (plugins.filter(({ startSpan }) => startSpan !== undefined).length > 1)
    throw wrong('telemetry', 'at most one plug-in that traces')
  return plugins
}

function resolvePlugins(plugins: readonly Plugin[] = []): readonly Plugin[] {
  if (!Array.isArray(plugins)) throw wrong('plugins', 'a list of plug-ins')
  const names = new Set<string>()
  for (const plugin of plugins as readonly Plugin[]) {
    assertMethods('plugins', plugin, ['setup'], 'definePlugin() from carillon/plugin-kit')
    if (!Array.isArray(plugin.records))
      throw wrong('plugins', 'values of definePlugin() from carillon/plugin-kit')
    if (names.has(plugin.name))
      throw wrong('plugins', `plug-ins with different names: two are named "${plugin.name}"`)
    names.add(plugin.name)
  }
  return plugins
}

function resolveWebhooks({ allow, allowHttp }: WebhookEventOptions): OutgoingHttp {
  const right = 'a list of CIDR blocks such as 127.0.0.0/8'
  if (allow !== undefined && !(Array.isArray(allow) && allow.every((block) => typeof block === 'string')))
    throw wrong('webhooks.allow', right)
  if (allowHttp !== undefined && typeof allowHttp !== 'boolean')
    throw wrong('webhooks.allowHttp', 'true or false')
  try {
    return guardedHttp({ allow, allowHttp, options: 'webhooks.' })
  } catch (error) {
    throw isNotifierError(error) ? wrong('webhooks.allow', right) : error
  }
}

function resolveProxy(proxy: NotifierOptions['proxy']): ProxyFor {
  if (proxy !== undefined && typeof proxy !== 'string') {
    assertObject('proxy', proxy)
    assertKeys('proxy.', proxy, ['url', 'noProxy'])
    const { noProxy = [] } = proxy
    if (!Array.isArray(noProxy) || !noProxy.every((host) => typeof host === 'string'))
      throw wrong('proxy.noProxy', 'a list of hosts such as api.example.com')
    const odd = noProxy.findIndex((host) => !canMatch(host))
    if (odd !== -1)
      throw wrong(
        `proxy.noProxy[${odd}]`,
        'one host such as api.example.com, an address, a CIDR block or an ascending range',
      )
  }
  return proxyFrom(proxy)
}

function resolveSecrets(secret: NotifierOptions['secret']): readonly string[] {
  if (secret === undefined) return []
  const secrets: readonly string[] = typeof secret === 'string' ? [secret] : secret
  const valid =
    Array.isArray(secrets) &&
    secrets.length > 0 &&
    secrets.every((text) => typeof text === 'string' && text.length >= MIN_SECRET_LENGTH)
  if (!valid) throw wrong('secret', `a text of at least ${MIN_SECRET_LENGTH} characters, or a list of such`)
  return [...secrets]
}

function resolvePlans(plans: Plans = perMinutePlans): Plans {
  assertObject('plans', plans)
  for (const [name, plan] of Object.entries(plans)) {
    assertObject(`plans.${name}`, plan)
    assertKeys(`plans.${name}.`, plan, PLAN_FIELDS)
    const { requests, retention = {}, ...counts } = plan
    assertDays(`plans.${name}.retention`, retention, OWN_RETENTION)
    if (requests !== null) {
      assertKeys(`plans.${name}.requests.`, requests ?? {}, ['limit', 'windowMs'])
      if (!isCount(requests?.limit) || !isCount(requests?.windowMs))
        throw wrong(
          `plans.${name}.requests`,
          'an object with "limit" and "windowMs", both whole numbers of at least 1, or null for no limit',
        )
    }
    for (const field of PLAN_COUNTS) {
      if (counts[field] !== null && !isCount(counts[field]))
        throw wrong(`plans.${name}.${field}`, 'a whole number of at least 1, or null for no limit')
    }
  }
  return plans
}

function resolveOveruse(overuse: NotifierOptions['overuse']): OverusePolicy | null {
  if (overuse === false) return null
  const policy = overuse === undefined ? DEFAULT_OVERUSE : overuse
  assertObject('overuse', policy)
  assertKeys('overuse.', policy, ['factor', 'windowMs', 'restrictMs'])
  for (const field of ['factor', 'windowMs', 'restrictMs'] as const)
    duration(`overuse.${field}`, policy[field])
  return policy
}

function resolveRetention(retention: RetentionOptions = {}): RetentionDays {
  assertDays('retention', retention, Object.keys(RETENTION_DAYS) as RetainedData[])
  const { contentDays, logDays, auditDays } = { ...RETENTION_DAYS, ...definedOf(retention) }
  return { contentDays: daysOf(contentDays), logDays: daysOf(logDays), auditDays: daysOf(auditDays) }
}

function assertDays<Kind extends RetainedData>(
  option: string,
  given: { readonly [Each in Kind]?: number | false | undefined },
  kinds: readonly Kind[],
): void {
  assertObject(option, given)
  assertKeys(`${option}.`, given, kinds)
  for (const kind of kinds) {
    const days: unknown = given[kind]
    if (days === undefined || days === false || (typeof days === 'number' && days >= 1)) continue
    throw wrong(`${option}.${kind}`, 'a number of days of at least 1, or false to keep the data forever')
  }
}

function resolveBounds(given: BoundsOptions = {}): Bounds {
  assertObject('bounds', given)
  assertKeys('bounds.', given, BOUND_NAMES)
  const bounds = BOUND_NAMES.map((name) => {
    const value = given[name] ?? DEFAULT_BOUNDS[name]
    const most = HIGHEST_BOUNDS[name]
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw wrong(`bounds.${name}`, `a whole number from 1 to ${counted(most)}`)
    return [name, value] as const
  })
  return Object.fromEntries(bounds) as unknown as Bounds
}

function resolveHeaders(email: EmailOptions = {}): ReadonlySet<string> {
  assertObject('email', email)
  assertKeys('email.', email, ['allowedHeaders'])
  const { allowedHeaders = [] } = email
  if (!Array.isArray(allowedHeaders)) throw wrong('email.allowedHeaders', 'a list of names of headers')
  for (const [index, name] of allowedHeaders.entries()) {
    if (typeof name !== 'string' || !needsPermission(name) || headerNameFault(name) !== null)
      throw wrong(
        `email.allowedHeaders[${index}]`,
        'the name of a header that messages may not set without it, such as X-PM-Tag',
      )
  }
  return new Set(allowedHeaders.map((name) => name.toLowerCase()))
}

function assertSms(sms: SmsOptions = {}): SmsOptions {
  assertObject('sms', sms)
  assertKeys('sms.', sms, ['maxSegments', 'numbers'])
  const { maxSegments, numbers } = sms
  if (maxSegments !== undefined && (!Number.isInteger(maxSegments) || maxSegments < 1 || maxSegments > 255))
    throw wrong('sms.maxSegments', 'a whole number from 1 to 255')
  if (numbers !== undefined && numbers !== 'possible' && numbers !== 'valid')
    throw wrong('sms.numbers', '"possible" or "valid"')
  return sms
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1
}
