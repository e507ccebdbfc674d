import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'eventemitter3'
import { NotifierError } from './domain/errors/notifier-error.ts'
import type { NotificationEvent } from './domain/event-payload.ts'
import { createIdGenerator } from './domain/ids.ts'
import { type NotifierOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { webhookSigner } from './outgoing/webhook-signer.ts'
import { createAccept } from './services/accept/accept.ts'
import { createApiKeys } from './services/api-keys/api-keys.ts'
import { createEngine } from './services/delivery/engine.ts'
import { reportHealth } from './services/health.ts'
import { createLifecycle } from './services/lifecycle.ts'
import { createLimits } from './services/limits/limits.ts'
import { createPlanFinder } from './services/limits/plan-of.ts'
import { closedLimit, createRequestLimits } from './services/limits/request-limits.ts'
import { createSendLimits } from './services/limits/send-limits.ts'
import { createLogs, createNotifications } from './services/notifications/notifications.ts'
import type { Notifier, NotifierEvents } from './services/notifier.ts'
import { createOrganizations } from './services/organizations/organizations.ts'
import { createSecretBox, newSecret, type SecretBox } from './services/secrets.ts'
import { createSuppressions } from './services/suppressions/suppressions.ts'
import { createCompiledTemplates } from './services/templates/compiled-templates.ts'
import { createTemplates } from './services/templates/templates.ts'
import { createWebhookEndpoints } from './services/webhooks/webhook-endpoints.ts'
import { within } from './services/within.ts'

/**
 * Creates a notification service in this process. Nothing happens before `start()`.
 *
 * @throws NotifierError `invalid_configuration`, naming the option that is wrong and what is right
 */
export function createNotifier(options: NotifierOptions): Notifier {
  return wire(resolveOptions(options))
}

function wire(options: ResolvedOptions): Notifier {
  const { storage, providers, outgoing, clock, logger, limiter } = options
  const emitter = new EventEmitter<NotifierEvents>()
  const ids = createIdGenerator({ now: () => clock.now(), randomBytes })
  const signer = webhookSigner()
  const compiled = createCompiledTemplates(storage)
  const plans = createPlanFinder(storage, options.plans, clock)
  const organizations = createOrganizations(storage, ids, plans)
  const sendLimits = createSendLimits(limiter, plans, clock)
  const requestLimits = createRequestLimits(limiter, plans, clock, options.overuse)
  let box: SecretBox | null = null

  function failed(error: unknown): void {
    const wrapped = error instanceof Error ? error : new Error(String(error))
    logger.error('Something failed behind the scenes; delivery goes on.', { error: wrapped })
    emit('error', wrapped)
  }

  function emit<Name extends keyof NotifierEvents>(name: Name, value: Error | NotificationEvent): void {
    for (const listener of emitter.listeners(name)) {
      try {
        const result: unknown = (listener as (value: Error | NotificationEvent) => unknown)(value)
        // An async listener: what it rejects with must not end the process.
        if (result instanceof Promise) result.catch((error: unknown) => threw(name, error))
      } catch (error) {
        threw(name, error)
      }
    }
  }

  function threw(event: string, error: unknown): void {
    logger.error('A listener threw.', { event, error })
  }

  /** Closes what is not the storage; neither a fault nor silence of one keeps the others open. */
  async function closeParts(deadlineMs: number): Promise<void> {
    const plugins = [...providers.values()].flat().map(({ plugin }) => plugin)
    const closing = [...plugins, outgoing, limiter].map(async (part) => {
      try {
        await part.close?.()
      } catch (error) {
        failed(error)
      }
    })
    await within(Promise.all(closing), deadlineMs, clock)
  }

  function openBox(): SecretBox {
    if (box === null) throw new NotifierError('not_started')
    return box
  }

  const announce = (event: NotificationEvent): void => emit(event.event, event)
  const engine = createEngine({
    ...options,
    compiled,
    signer,
    announce,
    failed,
    box: openBox,
    random: Math.random,
  })
  const lifecycle = createLifecycle({
    clock,
    async open() {
      await storage.start()
      const secrets =
        options.secrets.length > 0 ? options.secrets : [await storage.keep('secret', newSecret())]
      box = createSecretBox(secrets)
      if (!storage.durable) logger.warn('The memory storage loses everything when the process ends.')
    },
    deliver: engine.start,
    hurry: engine.hurry,
    async close(deadlineMs) {
      await engine.stop(deadlineMs)
      await closeParts(deadlineMs)
      await storage.stop()
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
    box: openBox,
    wake: engine.wake,
  }
  const preparation = {
    providers,
    compiled,
    clock,
    newId: ids.notification,
    maxSmsSegments: options.maxSmsSegments,
    smsCountries: async (organizationId: string) => (await plans.of(organizationId)).smsCountries,
  }
  const { resend, ...accept } = createAccept(storage, organizations, sendLimits, preparation, engine.wake)
  const notifier: Notifier = {
    ...guard(accept),
    start: lifecycle.start,
    stop: lifecycle.stop,
    [Symbol.asyncDispose]: () => lifecycle.stop(),
    on(event, listener) {
      emitter.on(event, listener as never)
      return notifier
    },
    off(event, listener) {
      emitter.off(event, listener as never)
      return notifier
    },
    notifications: guard({ ...createNotifications(storage, announce), resend }),
    templates: guard(createTemplates(storage, ids, organizations)),
    organizations: guard(organizations.api),
    apiKeys: guard(createApiKeys(storage, ids, organizations)),
    webhooks: guard(createWebhookEndpoints(webhookParts)),
    suppressions: guard(createSuppressions(storage, organizations)),
    maintenance: lifecycle.maintenance,
    health: () => reportHealth(storage, lifecycle.refusal(), engine.providers(), clock),
    limits: {
      ...guard(createLimits(storage, limiter, plans, requestLimits, clock)),
      closed: (retryAfterMs) => closedLimit(retryAfterMs, clock),
    },
    logs: guard(createLogs(storage)),
  }
  return notifier
}
