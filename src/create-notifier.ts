import { randomBytes } from 'node:crypto'
import { markup } from '../adapters/markup/index.ts'
import { sqlite } from '../adapters/storage/sqlite/index.ts'
import { createAccept } from './core/accept/accept.ts'
import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import { readingFiles } from './core/accept/files.ts'
import { batchInputOf, sendInputOf } from './core/accept/input.ts'
import { createSecretBox, createStoredSecret, type SecretBox } from './core/access/secrets.ts'
import type { ChannelOptions, ChannelsOf, Checked } from './core/channels/channel-option.ts'
import { createProviderRegistry } from './core/channels/provider-registry.ts'
import { type EndpointEvent, isEndpointEvent } from './core/delivery/endpoint-health.ts'
import { createEngine } from './core/delivery/engine.ts'
import { isNotifierError } from './core/errors/notifier-error.ts'
import { createLifecycle, started, stopping } from './core/lifecycle/lifecycle.ts'
import { refuseMembers } from './core/lifecycle/refuse-members.ts'
import { VERSION } from './core/lifecycle/version.ts'
import { createLimits } from './core/limits/limits.ts'
import { closedLimit, createRequestLimits } from './core/limits/request-limits.ts'
import { createSendLimits } from './core/limits/send-limits.ts'
import { createLinkSigner, type LinkSigner } from './core/links/link-signer.ts'
import type { Deadline } from './core/loop/deadline.ts'
import { createProcessor } from './core/loop/processor.ts'
import { throttled } from './core/loop/throttled.ts'
import { within } from './core/loop/within.ts'
import type { NotificationEvent } from './core/notification/event-payload.ts'
import { createLogs, createNotifications } from './core/notification/notifications.ts'
import type { ProcessListeners } from './core/notification/process-event.ts'
import type { MessageReceivedEvent } from './core/notification/received-message.ts'
import { createWaits } from './core/notification/wait-for.ts'
import type { HeardEvent } from './core/observe/delivery-log.ts'
import { chained, createEvents } from './core/observe/events.ts'
import { faultsOf } from './core/observe/faults-of.ts'
import { reportHealth } from './core/observe/health.ts'
import { createMeter } from './core/observe/meter.ts'
import { createMetricsSource, readMetrics } from './core/observe/metrics.ts'
import { observedLimiter } from './core/observe/observed-limiter.ts'
import { observedStorage } from './core/observe/observed-storage.ts'
import { createObserver } from './core/observe/observer.ts'
import { createPlugins } from './core/observe/plugins.ts'
import { createReporting } from './core/observe/reporting.ts'
import type { TelemetryFact } from './core/observe/telemetry.ts'
import { createIdGenerator } from './core/records/ids.ts'
import { createRecordStores } from './core/records/record-stores.ts'
import { assertOrganizationId, DEFAULT_ORGANIZATION } from './core/tenancy/organization.ts'
import { createPlanFinder } from './core/tenancy/plan-of.ts'
import { binding, type Scoped } from './core/tenancy/scoped.ts'
import { createAuthoring, createTexts } from './core/text/authoring.ts'
import { createApiKeys } from './features/api-keys/service.ts'
import { removeEndedUploads } from './features/attachments/removal.ts'
import { createUploads } from './features/attachments/service.ts'
import { createDeadLetters } from './features/failures/service.ts'
import { createStatistics } from './features/failures/statistics.ts'
import { createOrganizations } from './features/organizations/service.ts'
import { createConsent, createConsentApi } from './features/preferences/consent.ts'
import { createBackpressure } from './features/receipts/backpressure.ts'
import { createReceipts } from './features/receipts/service.ts'
import { createFindAddress } from './features/recipients/address-now.ts'
import { createPeople } from './features/recipients/service.ts'
import { createRetention } from './features/retention/service.ts'
import { createSessions, SESSION_MS, usedTokenKind } from './features/sessions/service.ts'
import { suppressionsOf } from './features/suppressions/records.ts'
import { createSuppressions } from './features/suppressions/service.ts'
import { createLinks } from './features/tracking/links.ts'
import { createPages } from './features/tracking/pages.ts'
import { createEventDeliveries, createWebhookEndpoints } from './features/webhook-events/service.ts'
import type { MultiTenantNotifier, Notifier } from './notifier.ts'
import {
  type MultiTenantOptions,
  type NotifierOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts'
import { webhookSigner } from './outgoing/webhook-signer.ts'
import { knownKinds, type Service } from './service.ts'
import type { Tenant } from './tenant.ts'

/**
 * Creates a notification service in this process. It does nothing before `start()`.
 *
 * @throws NotifierError `invalid_configuration`, which names the wrong option and the valid values
 */
export function createNotifier<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
>(
  options: MultiTenantOptions<Tx, Channels, Templates> & { readonly channels: Checked<Channels> },
): MultiTenantNotifier<Tx, ChannelsOf<Channels>, Templates>
export function createNotifier<
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
>(
  options: MultiTenantOptions<never, Channels, Templates> & { readonly channels: Checked<Channels> },
): MultiTenantNotifier<never, ChannelsOf<Channels>, Templates>
export function createNotifier<
  Tx = never,
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
>(
  options: NotifierOptions<Tx, Channels, Templates> & { readonly channels: Checked<Channels> },
): Notifier<Tx, ChannelsOf<Channels>, Templates>
/** For a storage chosen at run time: there is no common type of transactions. */
export function createNotifier<
  Channels extends ChannelOptions = ChannelOptions,
  Templates extends DeclaredTemplates = AnyTemplate,
>(
  options: NotifierOptions<never, Channels, Templates> & { readonly channels: Checked<Channels> },
): Notifier<never, ChannelsOf<Channels>, Templates>
export function createNotifier(options: NotifierOptions | MultiTenantOptions): MultiTenantNotifier<unknown> {
  return wire(resolveOptions(options, (clock) => sqlite({ file: ':memory:', clock })))
}

/** Time for providers to close when attempts have used up the deadline. */
const CLOSE_MS = 1_000

function wire(options: ResolvedOptions): MultiTenantNotifier<unknown> {
  const { outgoing, clock, logger, telemetry, kinds } = options
  const meter = createMeter()
  const backpressure = createBackpressure(clock)
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
  const events = createEvents(logger, options.hasLogger, clock)
  const { onError } = events
  const listeners: ProcessListeners = { wants: events.wants, tell }
  const limiter = observedLimiter(options.limiter, observer, clock)
  const storage = observedStorage(options.storage, { observer, listeners, clock })
  const stores = createRecordStores(storage.records, storedBytesOf)
  const ids = createIdGenerator({ now: () => clock.now(), randomBytes })
  const signer = webhookSigner()
  const processor = createProcessor(clock)
  const plans = createPlanFinder(stores, options.plans, clock)
  const links = createLinks(options.publicUrl, openSigner, options.bounds)
  const texts = createTexts(options, storage.records, processor, (id) => plans.of(id), links, markup(), clock)
  const { compiled, code } = texts
  const organizations = {
    existing: plans.existing,
    api: createOrganizations(stores, storage, ids, plans, links, clock, (id) => {
      for (const channel of registry.channels) registry.own(channel)?.renew(id, 0)
    }),
  }
  const consent = createConsent(stores, options)
  const people = options.recipients === null ? null : createPeople(options.recipients, clock, onError)
  async function storedBytesOf(organizationId: string): Promise<number | null> {
    return (await plans.of(organizationId)).plan.storedBytes
  }
  const limitsOf = async (organizationId: string) => plans.of(organizationId)
  const sendLimits = createSendLimits(limiter, plans, clock)
  const requestLimits = createRequestLimits(limiter, plans, clock, options.overuse)
  const storedSecret = createStoredSecret(stores)
  let box: SecretBox | null = null
  let linkSigner: LinkSigner | null = null

  function tell(event: HeardEvent): void {
    events.tell(event)
    if ('id' in event.data) waits.heard(event.data.id)
  }

  /** Closes the parts that no start opens. A fault or a hanging part does not keep the others open. */
  async function closeParts(deadline: Deadline): Promise<void> {
    requestLimits.close()
    const named = { channels: { close: registry.close }, 'outgoing HTTP': outgoing, 'rate limiter': limiter }
    const parts = Object.entries(named).map(async ([name, part]) => {
      try {
        await part.close?.()
      } catch (error) {
        faultsOf(name, onError)(error)
      }
    })
    const closing = Promise.all(parts)
    await Promise.all([deadline.within(closing), within(closing, CLOSE_MS, clock)])
  }

  async function startStorage(): Promise<void> {
    await storage.start({ kinds: stores.kinds, follow: suppressionsOf(kinds) })
    await texts.store()
  }

  /** Runs first: a missing package is a permanent fault. */
  async function openPeers(): Promise<void> {
    await Promise.all([registry.open(), limiter.open?.(), code.open()])
  }

  async function openSecrets(): Promise<void> {
    const secrets = options.secrets.length > 0 ? options.secrets : [await storedSecret()]
    box = createSecretBox(secrets)
    linkSigner = createLinkSigner(secrets)
    if (!storage.durable) logger.warn('The storage is in memory and loses everything when the process ends.')
  }

  function openBox(): SecretBox {
    return started(box)
  }

  function openSigner(): LinkSigner {
    return started(linkSigner)
  }

  function emit(event: NotificationEvent | EndpointEvent | MessageReceivedEvent): void {
    if (!isEndpointEvent(event) && event.event !== 'message.received')
      observer.record({ type: 'published', event: event.event })
    tell(event)
  }

  const registry = createProviderRegistry({ ...options, onError })

  const engine = createEngine({
    ...options,
    consent,
    registry,
    tell,
    storage,
    observer,
    listeners,
    processor,
    compiled,
    links,
    findAddress: createFindAddress(people, storage, { kinds, clock, limitsOf, onError }),
    tracking: async (organizationId: string) => (await plans.of(organizationId)).tracking,
    signer,
    emit,
    onError,
    box: openBox,
    random: Math.random,
  })
  const source = createMetricsSource(storage, engine.providers, clock)
  const plugins = createPlugins(telemetry, source, clock, onError)
  const retention = createRetention({
    storage,
    clock,
    logger,
    days: options.retentionDays,
    expiring: [{ kind: usedTokenKind, olderThanMs: 2 * SESSION_MS }],
    removeEnded: (organizationId) => removeEndedUploads(storage.records, organizationId),
    onError,
  })
  const unheard = throttled(onError, () => clock.monotonic())
  const lifecycle = createLifecycle({
    clock,
    onError,
    stages: [
      { name: 'packages', open: openPeers },
      ...(telemetry.length > 0 ? [{ name: 'telemetry', open: plugins.start, close: plugins.stop }] : []),
      { name: 'storage', open: startStorage, close: storage.stop },
      { name: 'queue', open: engine.open, close: engine.close },
      { name: 'secrets', open: openSecrets },
    ],
    deliver() {
      engine.start()
      if (options.queue === null) options.storage.onWork?.(() => engine.wake(), unheard)
      retention.start()
    },
    async halt(deadline) {
      waits.end(stopping())
      await Promise.all([deadline.within(retention.stop()), engine.stop(deadline)])
    },
    close: closeParts,
    failed(operation, error) {
      const code = isNotifierError(error) ? error.code : 'internal_server_error'
      observer.record({ type: 'refused', operation, code, count: 1 })
    },
  })
  const { guard } = lifecycle

  const webhookParts = {
    storage,
    ids,
    organizations,
    outgoing,
    signer,
    clock,
    observer,
    box: openBox,
    wake: engine.wake,
  }
  const sendInput = sendInputOf(kinds.known.values())
  const how = {
    ...texts,
    consent,
    registry,
    clock,
    processor,
    links,
    bounds: options.bounds,
    newId: ids.notification,
    newGroupId: () => ids.random('grp'),
    people,
    sendInput,
    limitsOf,
  }
  const { resend, ...accept } = createAccept(storage, organizations, sendLimits, how, engine.wake, observer)

  const common = { storage, consent, organizations, clock }
  const { unsubscribe, savePreferences, ...pages } = createPages({
    ...common,
    registry,
    people,
    brandingOf: texts.brandingOf,
    signer: openSigner,
    counts: () => !lifecycle.maintained(),
    emit,
    wake: engine.wake,
    onError,
  })
  const { get: getLimits, ...admissions } = createLimits(storage, limiter, plans, requestLimits, clock)
  const admitting = guard(admissions, { underMaintenance: true })
  const { admit } = guard(admissions)
  const deadLetters = createDeadLetters({ storage, organizations, registry, code, wake: () => engine.wake() })
  const notifications = createNotifications(
    storage,
    organizations,
    { ...texts, processor },
    registry,
    engine.providers,
    clock,
    emit,
    () => engine.wake(),
    deadLetters.one,
  )
  const waits = createWaits(clock, notifications.get)
  const keys = createApiKeys(stores, ids, organizations, clock)
  const { verify: verifyKey, ...apiKeys } = keys.apiKeys
  const { verify } = guard({ verify: verifyKey })
  const authoring = { ...options, ...texts, stores, ids, organizations, processor, people, consent }
  const scoped: Scoped<Tenant<unknown>> = guard(
    {
      ...accept,
      waitFor: waits.waitFor,
      notifications: { ...notifications, resend, ...createEventDeliveries(storage) },
      deadLetters: deadLetters.api,
      ...createAuthoring(authoring),
      apiKeys,
      attachments: createUploads(stores, storage.records, ids, organizations, options.attachments),
      webhooks: createWebhookEndpoints(webhookParts),
      suppressions: createSuppressions(stores, organizations, kinds),
      ...createConsentApi(consent, stores, organizations, kinds),
      limits: { get: getLimits },
      statistics: createStatistics(storage, organizations, registry, clock),
      logs: createLogs(storage, organizations),
    },
    { reported: ['send', 'sendBatch', 'validate', 'resend'] },
  )
  const tenant = binding<Tenant<unknown>>(scoped, readingFiles(kinds))
  const service: Service = {
    version: VERSION,
    inputs: {
      SendRequest: sendInput,
      BatchRequest: batchInputOf(sendInput),
      PreviewRequest: texts.served.previewInputs.body,
      LintRequest: texts.served.previewInputs.lint,
      TemplateDraft: texts.served.previewInputs.draft,
    },
    ...texts.served,
    maxAttachmentBytes: options.attachments.maxBytes,
    channels: [...kinds.known.keys()],
    kinds: knownKinds(kinds, registry.channels),
    ...scoped,
    organizations: guard(organizations.api),
    apiKeys: { ...scoped.apiKeys, verify },
    operatorKeys: guard(keys.operatorKeys),
    receipts: guard(
      createReceipts({
        ...common,
        logger,
        emit,
        publicUrl: options.publicUrl,
        wake: engine.wake,
        backpressure,
        registry,
      }),
    ),
    processor,
    sessions: guard(createSessions({ stores, clock, keys: keys.sessionKeys, signer: openSigner })),
    pages: {
      texts: options.pageTexts,
      ...guard(pages, { underMaintenance: true }),
      ...guard({ unsubscribe, savePreferences }),
    },
    reporting: createReporting(options.hasLogger ? logger : null, observer, clock),
    metrics: () => readMetrics(meter, source, clock),
    health: () => reportHealth({ storage, limiter, delivery: engine, clock }, lifecycle.refusal()),
    limits: {
      ...scoped.limits,
      ...admitting,
      // A link in a mail works under maintenance, too.
      admit: (who, resource) => (resource === 'links' ? admitting.admit : admit)(who, resource),
      closed: (retryAfterMs) => closedLimit(retryAfterMs, clock),
    },
  }
  const shared: MultiTenantNotifier<unknown> = {
    engine: service,
    start: lifecycle.start,
    stop: lifecycle.stop,
    [Symbol.asyncDispose]: () => lifecycle.stop(),
    ...chained(events, () => notifier),
    organization(id) {
      assertOrganizationId(id)
      return tenant(id)
    },
    organizations: service.organizations,
    apiKeys: { verify },
    operatorKeys: service.operatorKeys,
    maintenance: lifecycle.maintenance,
    metrics: service.metrics,
    health: service.health,
  }
  const own = tenant(DEFAULT_ORGANIZATION)
  const notifier: MultiTenantNotifier<unknown> =
    options.organizations === 'required'
      ? refuseMembers(shared, Object.keys(own))
      : { ...shared, ...own, apiKeys: { ...own.apiKeys, verify } }
  return notifier
}
