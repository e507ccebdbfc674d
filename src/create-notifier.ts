import { randomBytes } from 'node:crypto'
import { markup } from '../adapters/markup/index.ts'
import { sqlite } from '../adapters/storage/sqlite/index.ts'
import type { AllOrganizations } from './all-organizations.ts'
import { createTexts } from './authoring.ts'
import { createAccept } from './core/accept/accept.ts'
import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import { readingFiles } from './core/accept/files.ts'
import { batchInputOf, sendInputOf } from './core/accept/input.ts'
import type { SendsWithRecords } from './core/accept/with-records.ts'
import { createSecrets } from './core/access/notifier-secrets.ts'
import { createKeyLookups } from './core/access/verify-key.ts'
import { createAudit } from './core/audit/audit.ts'
import type { ChannelOptions, ChannelsOf, Checked } from './core/channels/channel-option.ts'
import { createProviderRegistry } from './core/channels/provider-registry.ts'
import { type EndpointEvent, isEndpointEvent } from './core/delivery/endpoint-health.ts'
import { createEngine, type Engine } from './core/delivery/engine.ts'
import type { Listeners } from './core/delivery/listeners.ts'
import { createDueRecords } from './core/due/due-records.ts'
import { isNotifierError, NotifierError } from './core/errors/notifier-error.ts'
import { createExplain } from './core/explain/explain.ts'
import { createFeatures, joined } from './core/feature.ts'
import { createGate } from './core/gate/gate.ts'
import { judgeByRegions } from './core/gate/regions.ts'
import { underMaintenance } from './core/lifecycle/calls.ts'
import { createLifecycle, type Lifecycle, type Stage, stopping } from './core/lifecycle/lifecycle.ts'
import { refuseMembers } from './core/lifecycle/refuse-members.ts'
import { VERSION } from './core/lifecycle/version.ts'
import { createLimits } from './core/limits/limits.ts'
import type { Admissions } from './core/limits/model.ts'
import { closedLimit, createRequestLimits } from './core/limits/request-limits.ts'
import { createSendLimits } from './core/limits/send-limits.ts'
import { createLinks } from './core/links/links.ts'
import { createProcessor } from './core/loop/processor.ts'
import { sharedReads } from './core/loop/shared-reads.ts'
import { throttled } from './core/loop/throttled.ts'
import { NO_CATEGORIES } from './core/notification/category-source.ts'
import type { NotificationEvent } from './core/notification/event-payload.ts'
import { createLogs, createNotifications } from './core/notification/notifications.ts'
import { createRecordFact } from './core/notification/own-facts.ts'
import type { ProcessListeners } from './core/notification/process-event.ts'
import type { MessageReceivedEvent } from './core/notification/received-message.ts'
import { createWaits } from './core/notification/wait-for.ts'
import type { HeardEvent } from './core/observe/delivery-log.ts'
import { createEvents } from './core/observe/events.ts'
import { reportHealth } from './core/observe/health.ts'
import { createMeter } from './core/observe/meter.ts'
import { createMetricsSource, readMetrics } from './core/observe/metrics.ts'
import { observedLimiter } from './core/observe/observed-limiter.ts'
import { observedStorage } from './core/observe/observed-storage.ts'
import { createObserver } from './core/observe/observer.ts'
import { createPlugins } from './core/observe/plugins.ts'
import { createReporting } from './core/observe/reporting.ts'
import type { TelemetryFact } from './core/observe/telemetry.ts'
import { createFindAddress } from './core/people/address-now.ts'
import { createPepper } from './core/people/pepper.ts'
import { createPersonHashes } from './core/people/person-hashes.ts'
import { assertCustody } from './core/people/personal-records.ts'
import type { TelemetrySource } from './core/ports/telemetry.ts'
import { createIdGenerator } from './core/records/ids.ts'
import { createRecordStores } from './core/records/record-stores.ts'
import type { RequestContext, Route } from './core/rest/route.ts'
import { ALL_ORGANIZATIONS } from './core/tenancy/all-organizations.ts'
import { assertOrganizationId, DEFAULT_ORGANIZATION } from './core/tenancy/organization.ts'
import { binding, type PerTenant } from './core/tenancy/per-tenant.ts'
import { createPlanFinder } from './core/tenancy/plan-of.ts'
import { createTemplates, type Templates } from './core/text/templates.ts'
import { createActing } from './features/audit/service.ts'
import { FEATURES } from './features/index.ts'
import { lintInputOf } from './features/lint/input.ts'
import { createBackpressure } from './features/receipts/backpressure.ts'
import { contentPositionKind, createRetention } from './features/retention/service.ts'
import { suppressionsOf } from './features/suppressions/records.ts'
import type { EventListening } from './features/webhook-events/api.ts'
import { createEventListeners } from './features/webhook-events/listening.ts'
import type { MultiTenantNotifier, Notifier } from './notifier.ts'
import {
  type MultiTenantOptions,
  type NotifierOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts'
import { webhookSigner } from './outgoing/webhook-signer.ts'
import { asFeature, type PluginServices } from './plugin-kit/as-feature.ts'
import type { Plugin, PluginApis } from './plugin-kit/plugin.ts'
import { wrong } from './plugin-kit/wrong.ts'
import { knownKinds, type ServedNotifier } from './served-notifier.ts'
import type { Tenant } from './tenant.ts'

/**
 * Creates a notification service in this process. It does nothing before `start()`.
 *
 * @throws NotifierError `invalid_configuration`, which names the wrong option and the valid values
 *
 * @example
 * const notifier = createNotifier({
 *   storage: sqlite({ file: 'notifications.db' }),
 *   channels: { email: smtp({ host: 'smtp.example.com', from: 'Shop <shop@example.com>' }) },
 * })
 * notifier.on('error', (error) => console.error(error))
 * await notifier.start()
 */
export function createNotifier<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
  const Plugins extends readonly Plugin[] = readonly [],
>(
  options: MultiTenantOptions<Tx, Channels, Templates> & Inferred<Channels, Plugins>,
): MultiTenantNotifier<Tx, ChannelsOf<Channels>, Templates, PluginApis<Plugins>>
export function createNotifier<
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
  const Plugins extends readonly Plugin[] = readonly [],
>(
  options: MultiTenantOptions<never, Channels, Templates> & Inferred<Channels, Plugins>,
): MultiTenantNotifier<never, ChannelsOf<Channels>, Templates, PluginApis<Plugins>>
export function createNotifier<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
  const Plugins extends readonly Plugin[] = readonly [],
>(
  options: NotifierOptions<Tx, Channels, Templates> & Inferred<Channels, Plugins>,
): Notifier<Tx, ChannelsOf<Channels>, Templates, PluginApis<Plugins>> & PluginApis<Plugins>
/** For a storage chosen at run time: there is no common type of transactions. */
export function createNotifier<
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
  const Plugins extends readonly Plugin[] = readonly [],
>(
  options: NotifierOptions<never, Channels, Templates> & Inferred<Channels, Plugins>,
): Notifier<never, ChannelsOf<Channels>, Templates, PluginApis<Plugins>> & PluginApis<Plugins>
export function createNotifier(options: NotifierOptions | MultiTenantOptions): MultiTenantNotifier<unknown> {
  return wire(options)
}

/** Options from which the types of a notifier follow. */
interface Inferred<Channels extends ChannelOptions, Plugins> {
  readonly channels: Checked<Channels>
  readonly plugins?: Plugins | undefined
}

function wire(given: NotifierOptions | MultiTenantOptions): MultiTenantNotifier<unknown> {
  const options = resolveOptions(given, (clock) => sqlite({ file: ':memory:', clock }))
  const ground = createGround(options)
  // Features need the engine and the lifecycle that they are part of.
  const core = createCore(ground, {
    send: (...message) => accept.send(...message),
    withRecords: (...sends) => accept.withRecords(...sends),
    wake: (lane) => engine.wake(lane),
    providers: () => engine.providers(),
    maintained: () => lifecycle.maintained(),
  })
  const listeners = createEventListeners()
  const engine: Engine = createDelivery(core, options, listeners.registered)
  const source = createMetricsSource(core.storage, engine.providers, core.clock)
  const accept = createAccepting(core, engine)
  const lifecycle: Lifecycle = createRun(core, engine, source, accept, {
    name: 'listeners',
    open: () => listening.open(),
    close: () => listening.close(),
  })
  const { guard, refusal, maintained: _, tried, ...run } = lifecycle
  const useCases = guard(createUseCases(core, accept, engine.providers), {
    reported: ['send', 'sendBatch', 'validate', 'resend'],
  })
  const { tenants, together, organizations, apiKeys, operatorKeys } = useCases
  const { webhooks } = tenants
  const { wake } = engine
  const listening = listeners.api({
    endpoints: core.storage.webhookEndpoints,
    webhooks,
    wake,
    refusal: () => (lifecycle.maintained() ? refusal() : null),
  })
  const added = guard(core.pluggedIn.api as { readonly tenants?: PerTenant<object> }).tenants ?? {}
  const shared = {
    organizations,
    apiKeys,
    operatorKeys,
    metrics: () => readMetrics(core.meter, source, core.clock),
    health: () => reportHealth({ ...core, delivery: engine }, refusal()),
  }
  const internals: ServedNotifier = {
    ...useCases,
    ...shared,
    ...createHttpParts(core, guard),
    onBehalfOf: core.audit.onBehalfOf,
    changed(change) {
      if (tried()) {
        const message =
          'The notifier was started where it was made, and delivers. Leave start() to the program that serves it.'
        throw new NotifierError('invalid_configuration', { message })
      }
      return wire(change(given, [...options.kinds.known.values()]))
    },
  }
  const tenant = binding<Tenant<unknown>>({ ...tenants, ...added }, readingFiles(options.kinds))
  const whole: MultiTenantNotifier<unknown> = {
    ...shared,
    internals: internals,
    ...run,
    ...createActing(core.audit),
    [Symbol.asyncDispose]: () => run.stop(),
    ...core.events.listening(() => notifier),
    organization(id) {
      assertOrganizationId(id)
      return tenant(id)
    },
    allOrganizations: {
      ...binding<Omit<AllOrganizations, keyof EventListening>>(together)(ALL_ORGANIZATIONS),
      listen: listening.listen,
      forget: listening.forget,
    },
  }
  for (const { name } of options.plugins) {
    if (name in whole || name in tenants) throw wrong(name, 'needs another name: a notifier has this member')
  }
  const own = tenant(DEFAULT_ORGANIZATION)
  const notifier: MultiTenantNotifier<unknown> =
    options.organizations === 'required'
      ? refuseMembers(whole, Object.keys(own))
      : { ...whole, ...own, apiKeys: { ...own.apiKeys, ...shared.apiKeys } }
  return notifier
}

/** Reports what happens in this process to metrics, telemetry, listeners, the log and waiting callers. */
function observe({ clock, logger, hasLogger, telemetry }: ResolvedOptions) {
  const meter = createMeter()
  const backpressure = createBackpressure(clock)
  const events = createEvents(logger, hasLogger, clock)
  const waits = createWaits(clock)
  function record(fact: TelemetryFact): void {
    meter.record(fact)
    if (fact.type === 'stored' && (fact.verb === 'accept' || fact.verb === 'settle')) {
      backpressure.stored(fact.items)
    }
  }
  const observer = createObserver(record, telemetry, ({ name }, error) =>
    logger.error('A telemetry plug-in threw an exception. Its further exceptions are ignored.', {
      plugin: name,
      error,
    }),
  )

  function tell(event: HeardEvent): void {
    events.tell(event)
    if ('id' in event.data) waits.heard(event.data.id)
  }

  function emit(event: NotificationEvent | EndpointEvent | MessageReceivedEvent): void {
    if (!isEndpointEvent(event) && event.event !== 'message.received')
      observer.record({ type: 'published', event: event.event })
    tell(event)
  }

  const listeners: ProcessListeners = { wants: events.wants, tell }
  return { meter, backpressure, events, waits, observer, listeners, tell, emit, onError: events.onError }
}

type Ground = ReturnType<typeof createGround>

/** Services that know no feature. */
function createGround(options: ResolvedOptions) {
  const { clock, kinds } = options
  const observation = observe(options)
  const { observer, listeners, onError } = observation
  const limiter = observedLimiter(options.limiter, observer, clock)
  const processor = createProcessor(clock)
  const storage = sharedReads(observedStorage(options.storage, { observer, listeners, clock }), processor)
  const due = createDueRecords({ ...options, storage, random: Math.random, onError })
  const stores = createRecordStores(
    storage.records,
    async (id) => (await plans.of(id)).plan.storedBytes,
    due.wake,
  )
  const plans = createPlanFinder(stores, options.plans, clock)
  const ids = createIdGenerator({ now: () => clock.now(), randomBytes })
  const audit = createAudit(ids, stores)
  const secrets = createSecrets(options.secrets, stores)
  const hashes = createPersonHashes(createPepper(stores))
  const links = createLinks(options.publicUrl, secrets.signer, hashes)
  const texts = createTexts(options, storage.records, processor, (id) => plans.of(id), links, markup(), clock)
  const registry = createProviderRegistry({ ...options, onError })
  const requestLimits = createRequestLimits(limiter, plans, clock, options.overuse)
  return {
    ...options,
    ...observation,
    ...texts,
    limiter,
    storage,
    due,
    stores,
    audit,
    plans,
    limitsOf: plans.of,
    ids,
    processor,
    secrets,
    hashes,
    links,
    registry,
    organizations: plans,
    requestLimits,
    limits: createLimits(storage, limiter, plans, requestLimits, clock),
    keys: createKeyLookups(stores, clock),
    sendInput: sendInputOf(kinds.known.values()),
    lintInput: lintInputOf(kinds.known.values()),
    signer: webhookSigner(),
    box: secrets.box,
  }
}

type Core = ReturnType<typeof createCore>

/** The features, and what they bring to all messages. */
function createCore(
  ground: Ground,
  later: Pick<Engine, 'wake' | 'providers'> &
    Pick<Lifecycle, 'maintained'> &
    Pick<PluginServices, 'send' | 'withRecords'>,
) {
  const { storage, organizations, registry, clock, emit } = ground
  const { wake, providers, maintained } = later
  const notifications = createNotifications(
    storage,
    organizations,
    ground,
    registry,
    providers,
    () => features.uploads,
    clock,
    emit,
    wake,
  )
  const recordFact = createRecordFact({ storage, emit, wake })
  const services = {
    ...ground,
    notifications,
    recordFact,
    maintained,
    providers,
    wake,
    templates: () => templates,
    personal: () => [...features.personal, ...plugins.personal],
  }
  const features = createFeatures(FEATURES, services)
  const plugins = createFeatures(ground.plugins.map(asFeature), {
    ...services,
    ...later,
    fallsDue: ground.due.wake,
  })
  const brought = {
    complete: features.complete,
    people: features.people,
    categories: features.categories ?? NO_CATEGORIES,
    refused: features.refused,
  }
  // Templates need what features bring, and features need templates.
  const templates: Templates = createTemplates({ ...ground, ...brought })
  const judges = [
    { name: 'regions', judge: judgeByRegions(ground.limitsOf) },
    ...features.judges,
    ...plugins.judges,
  ]
  return {
    ...ground,
    ...brought,
    notifications,
    features,
    pluggedIn: plugins,
    templates,
    judges,
    gate: createGate(judges),
  }
}

function createDelivery(core: Core, { limiter }: ResolvedOptions, eventListeners: Listeners): Engine {
  const { people, storage, features } = core
  return createEngine({
    ...core,
    // It has its own timeouts, and delivers while the limiter is away.
    limiter,
    findAddress: createFindAddress(people, storage, core),
    uploads: features.uploads,
    eventListeners,
    tracker: features.tracker,
    random: Math.random,
  })
}

/** Opens, runs and closes the parts. */
function createRun(
  core: Core,
  engine: Engine,
  source: TelemetrySource,
  accept: SendsWithRecords,
  listeners: Stage,
): Lifecycle {
  const { clock, logger, telemetry, storage, registry, limiter, waits, observer, onError } = core
  const plugins = createPlugins(telemetry, source, clock, onError)
  const retention = createRetention({
    ...core,
    expiring: core.features.expiring,
    expire: core.features.expire,
    positions: core.stores.always(contentPositionKind),
  })

  /** Runs first: a missing package is a permanent fault. */
  async function openPackages(): Promise<void> {
    await Promise.all([registry.open(), limiter.open?.(), core.code.open()])
  }

  async function startStorage(): Promise<void> {
    assertCustody(core.stores.kinds, [...core.features.personal, ...core.pluggedIn.personal])
    await storage.start({ kinds: core.stores.kinds, follow: suppressionsOf(core.kinds, core.hashes) })
    await core.storeApplication()
    if (!storage.durable) logger.warn('The storage is in memory and loses everything when the process ends.')
  }

  async function openSecrets(): Promise<void> {
    await Promise.all([core.secrets.open(), core.hashes.open()])
  }

  return createLifecycle({
    clock,
    onError,
    stages: [
      { name: 'packages', open: openPackages },
      ...(telemetry.length > 0 ? [{ name: 'telemetry', open: plugins.start, close: plugins.stop }] : []),
      { name: 'storage', open: startStorage, close: storage.stop },
      { name: 'queue', open: engine.open, close: engine.close },
      { name: 'features', open: async () => {}, close: core.features.close },
      { name: 'secrets', open: openSecrets },
      listeners,
    ],
    deliver() {
      engine.start()
      if (core.queue === null)
        storage.onWork?.(
          () => engine.wake(),
          throttled(onError, () => clock.monotonic()),
        )
      retention.start()
      core.due.start([...core.features.due, ...core.pluggedIn.due], accept)
    },
    async halt(deadline) {
      waits.end(stopping())
      await Promise.all([deadline.within(retention.stop()), core.due.stop(deadline), engine.stop(deadline)])
    },
    others: {
      'request limits': core.requestLimits,
      channels: registry,
      'outgoing HTTP': core.outgoing,
      'rate limiter': limiter,
    },
    failed(operation, error) {
      const code = isNotifierError(error) ? error.code : 'internal_server_error'
      observer.record({ type: 'refused', operation, code, count: 1 })
    },
  })
}

/** Sends: those of callers, and those of records that fall due. */
function createAccepting(core: Core, { wake }: Engine) {
  const { storage, organizations, ids, clock } = core
  const preparation = { ...core, newId: ids.notification, newGroupId: () => ids.random('grp') }
  const sendLimits = createSendLimits(core.limiter, core.plans, clock)
  return createAccept(storage, organizations, sendLimits, preparation, wake, core.observer)
}

/** The use cases: those of the core, and those of the features. */
function createUseCases(
  core: Core,
  { resend, withRecords: _, examine, ...accept }: ReturnType<typeof createAccepting>,
  providers: Engine['providers'],
) {
  const { storage, organizations, notifications } = core
  const explain = createExplain({ ...core, accept: { examine }, providers })
  const logs = createLogs(storage, organizations)
  const tenants = {
    ...accept,
    ...explain.message,
    waitFor: core.waits.waitFor(notifications.get),
    notifications: { ...notifications, ...explain.notification, resend },
    templates: core.templates.api,
    limits: { get: core.limits.get },
    logs,
  }
  const together = { notifications: { list: notifications.list }, logs }
  return joined({ tenants, together }, core.features.api)
}

/** Services that only HTTP adapters need. */
function createHttpParts(core: Core, guard: Lifecycle['guard']) {
  const { clock, kinds, registry, sendInput, previewInputs, lintInput } = core
  const { get: _, admit, ...others } = core.limits
  const running = guard({ admit })
  const always = guard<Omit<Admissions, 'closed'>>(
    underMaintenance({ ...others, admit: (who, limit) => admit(who, limit) }),
  )
  const limits: Admissions = {
    ...always,
    admit: (who, limit) => (limit?.underMaintenance === true ? always : running).admit(who, limit),
    closed: (retryAfterMs) => closedLimit(retryAfterMs, clock),
  }
  return {
    version: VERSION,
    inputs: {
      SendRequest: sendInput,
      BatchRequest: batchInputOf(sendInput),
      PreviewRequest: previewInputs.body,
      LintRequest: lintInput,
      TemplateDraft: previewInputs.draft,
    },
    previewInputs,
    lintInput,
    code: core.code,
    channels: [...kinds.known.keys()],
    kinds: knownKinds(kinds, registry.channels),
    maxUploadBytes: core.attachments.maxBytes,
    limits,
    async checkProviders() {
      const { checkProviders } = await import('./core/channels/check-providers.ts')
      return checkProviders(registry, clock)
    },
    async reach(organizationId: string, url: string) {
      const { reach } = await import('./core/delivery/reach.ts')
      return reach(core.outgoing, organizationId, url)
    },
    inspectStorage: async () => core.storage.inspect?.(),
    pageTexts: core.pageTexts,
    reporting: createReporting(core.hasLogger ? core.logger : null, core.observer, clock),
    processor: core.processor,
    routes: core.pluggedIn.routes.map((route) => guardedRoute(route, guard)),
  }
}

/** A route of a plug-in, which needs nothing of the notifier. */
function guardedRoute(route: Route<object>, guard: Lifecycle['guard']): Route<object> {
  const { handle } = guard({ handle: (context: RequestContext) => route.handler(context, {}) })
  return { ...route, handler: (context) => handle(context) }
}
