import * as z from 'zod'
import { WEBHOOK_EVENT_TYPES } from '../../core/delivery/endpoint-health.ts'
import {
  type EventHandler,
  type Listener,
  type Listeners,
  listenerId,
} from '../../core/delivery/listeners.ts'
import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import { stopping } from '../../core/lifecycle/lifecycle.ts'
import { SPEC_EVENT_TYPES } from '../../core/notification/facts.ts'
import type {
  WebhookEndpoint,
  WebhookEndpointRepository,
} from '../../core/ports/storage/webhook-endpoints.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseOptions, wrong } from '../../core/tenancy/scope.ts'
import type { EventListening, Webhooks } from './api.ts'
import { MAX_ENDPOINTS, once } from './service.ts'

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/
const NAME_FORM = '1 to 60 lower-case letters, digits and hyphens, with a letter or digit at both ends'

const listenOptions = z.strictObject({
  events: z
    .array(z.enum(WEBHOOK_EVENT_TYPES))
    .min(1)
    .default([...SPEC_EVENT_TYPES]),
  concurrency: z.int().min(1).max(100).default(4),
  timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
})

export interface ListeningServices {
  readonly endpoints: WebhookEndpointRepository
  /** Those of all callers. */
  readonly webhooks: Pick<PerTenant<Webhooks>, 'delete'>
  /** Called when work of the lane may be due. */
  wake(lane: string): void
  /** Why the service is under maintenance. Null: it is not. */
  refusal(): NotifierError | null
}

export interface EventListeners {
  /** Those of this process. */
  readonly registered: Listeners
  /** The methods, once the services are there. */
  api(services: ListeningServices): EventListening & {
    /** Stores the subscriptions of the listeners registered so far, and of later ones at once. */
    open(): Promise<void>
    /** Registers no more. */
    close(): Promise<void>
  }
}

/** The listeners of a process for events of all organizations: endpoints without an address. */
export function createEventListeners(): EventListeners {
  const registered = new Map<string, Listener>()
  let state: 'new' | 'open' | 'closed' = 'new'

  return {
    registered,
    api({ endpoints, webhooks, wake, refusal }) {
      async function create(id: string, { name, events }: Listener): Promise<WebhookEndpoint> {
        const url = `listener:${name}`
        const wanted = {
          id,
          organizationId: ALL_ORGANIZATIONS,
          url,
          events,
          successStatus: '200',
          secrets: [],
        } as const
        try {
          const created = await endpoints.create(wanted, MAX_ENDPOINTS)
          if (created !== null) return created
        } catch (error) {
          // Another process has created it meanwhile.
          const known = await endpoints.get(id)
          if (known === null) throw error
          return known
        }
        throw new NotifierError('endpoint_limit_reached', { details: { limit: MAX_ENDPOINTS } })
      }

      async function subscribe(id: string, listener: Listener): Promise<void> {
        const { events } = (await endpoints.get(id)) ?? (await create(id, listener))
        if (nameOf(events) !== nameOf(listener.events))
          await endpoints.update(id, { events: listener.events })
        wake(id)
      }

      function assertOpenTo(id: string): void {
        if (state === 'closed') throw stopping()
        if (registered.has(id)) throw wrong('name', 'another one: this process has a listener of this name')
        const refused = state === 'open' ? refusal() : null
        if (refused !== null) throw refused
      }

      return {
        async listen(name, handler, options) {
          const listener = parseListener(name, handler, options)
          const id = listenerId(listener.name)
          assertOpenTo(id)
          registered.set(id, listener)
          if (state === 'new') return
          try {
            await subscribe(id, listener)
          } catch (error) {
            registered.delete(id)
            throw error
          }
        },
        async forget(name) {
          const id = listenerId(parseName(name))
          try {
            await webhooks.delete(ALL_ORGANIZATIONS, id)
          } catch (error) {
            if (!isNotifierError(error) || error.code !== 'not_found') throw error
            registered.delete(id)
            throw new NotifierError('not_found', { message: `No listener has the name "${name}".` })
          }
          registered.delete(id)
        },
        async open() {
          state = 'open'
          try {
            for (const [id, listener] of registered) await subscribe(id, listener)
          } catch (error) {
            state = 'new'
            throw error
          }
        },
        async close() {
          state = 'closed'
        },
      }
    },
  }
}

function parseListener(name: unknown, handler: unknown, options: unknown): Listener {
  const known = parseName(name)
  if (typeof handler !== 'function') throw wrong('handler', 'a function')
  const { events, ...rest } = parseOptions(listenOptions, options)
  return { name: known, handler: handler as EventHandler, events: once(events), ...rest }
}

function parseName(name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) throw wrong('name', NAME_FORM)
  return name
}

function nameOf(events: readonly string[]): string {
  return [...events].sort().join(' ')
}
