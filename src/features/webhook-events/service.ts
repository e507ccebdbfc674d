import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import type { Audit } from '../../core/audit/audit.ts'
import { auditedChange, keeping } from '../../core/audit/audited-change.ts'
import { interpretPost } from '../../core/channels/http-answer.ts'
import { TEST_EVENT_TYPE, testEventIds } from '../../core/delivery/endpoint-health.ts'
import { isListener } from '../../core/delivery/listeners.ts'
import { attemptOf, type PostServices, postEvent, requestOf } from '../../core/delivery/post-event.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { eventId } from '../../core/notification/event-payload.ts'
import { SPEC_EVENT_TYPES } from '../../core/notification/facts.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import type { IdGenerator } from '../../core/records/ids.ts'
import { listOf, listOfOwner, listReader } from '../../core/records/list.ts'
import { createResource } from '../../core/records/resource.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../../core/tenancy/plan-of.ts'
import { byId, isoOrNull, owned, parseOptions, parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { EventDeliveries, Webhooks } from './api.ts'
import {
  MAX_URL,
  redeliverInput,
  secretRotation,
  webhookEndpointChange,
  webhookEndpointInput,
} from './input.ts'
import type {
  LastAttemptRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
} from './model.ts'

/** Endpoints per owner: the cost of each send and event grows with them. */
export const MAX_ENDPOINTS = 50

/** Signing secrets per endpoint: each lengthens the signature header. */
const MAX_SECRETS = 5

/** Deliveries per commit: a synchronous storage blocks the process meanwhile. */
const STEP = 200
/** Maximum number of deliveries of one event that are read. */
const MOST_DELIVERIES = 1_000

/** Newest deliveries of an endpoint among which its last attempt is looked for. */
const NEWEST = 5

/** Test events per endpoint: only the newest are kept, as no quota counts them. */
const MAX_TESTS = 20

/** Newest entries of a timeline whose events are looked up, and deliveries of them. */
const MOST_EVENTS = 1_000
const MOST_LISTED = 200

const readDeliveries = listReader<Pick<WebhookDeliveryQuery, 'status'>>('deliveries', {
  status: z.enum(['pending', 'delivered', 'failed', 'held']).optional(),
})
const rotation = z.strictObject({ overlapMs: secretRotation.shape.overlapMs })

export interface WebhookServices extends PostServices {
  readonly audit: Audit
  readonly storage: Storage
  readonly ids: IdGenerator
  readonly organizations: OrganizationFinder
  /** Called when work of the lane is due. */
  wake(lane: string): void
}

/** The use cases of webhook endpoints. */
export function createWebhookEndpoints(services: WebhookServices): PerTenant<Webhooks> {
  const { storage, audit, ids, organizations, outgoing, signer, clock, box, wake } = services

  const { find, list } = createResource(organizations, {
    name: 'webhooks',
    rows: {
      find: (ref) => storage.webhookEndpoints.get(ref.id),
      list: (of, page) => storage.webhookEndpoints.list(of.organizationId ?? '', page),
    },
    view: (endpoint) => endpoint,
    absent: unknownEndpoint,
  })

  async function shown(endpoint: WebhookEndpoint): Promise<WebhookEndpointRecord> {
    const newest = { limit: NEWEST, offset: 0 }
    const { items } = await storage.webhookEndpoints.deliveries({ endpointId: endpoint.id }, newest)
    return { ...view(endpoint), lastAttempt: lastAttemptOf(items) }
  }

  /** The normalized address; unchanged if only the slash after the host is missing. */
  function allowed(given: string): string {
    const message = outgoing.refuses(given)
    if (message !== null) throw new NotifierError('blocked_address', { message, details: { field: 'url' } })
    const { href } = new URL(given)
    if (href === `${given}/`) return given
    if (href.length > MAX_URL) throw wrong('url', `at most ${MAX_URL} characters including escapes`)
    return href
  }

  return {
    async create(organizationId, input) {
      const parsed = parseSubject(webhookEndpointInput, input)
      const url = allowed(parsed.url)
      if (organizationId !== ALL_ORGANIZATIONS) await organizations.existing(organizationId)
      const secret = signer.newSecret()
      const wanted = {
        id: ids.random('wh'),
        organizationId,
        url,
        events: parsed.events === undefined ? SPEC_EVENT_TYPES : once(parsed.events),
        successStatus: parsed.successStatus ?? '200',
        secrets: [box().seal(secret)],
      } as const
      const endpoint = await storage.webhookEndpoints.create(
        wanted,
        MAX_ENDPOINTS,
        keeping([
          audit.entry({ organizationId, action: 'webhook.created', target: wanted.id, after: wanted }),
        ]),
      )
      if (endpoint === null) {
        throw new NotifierError('endpoint_limit_reached', { details: { limit: MAX_ENDPOINTS } })
      }
      return { ...view(endpoint), lastAttempt: null, secret }
    },
    async get(organizationId, id) {
      return shown(await find(organizationId, id))
    },
    async list(organizationId, query) {
      const found = await list(organizationId, query)
      const items: WebhookEndpointRecord[] = []
      for (const endpoint of found.items) {
        items.push(await shown(endpoint))
        await nextTurn()
      }
      return { ...found, items }
    },
    async update(organizationId, id, input) {
      const { url, events, ...others } = parseSubject(webhookEndpointChange, input)
      const changes = {
        ...others,
        ...(url === undefined ? {} : { url: allowed(url) }),
        ...(events === undefined ? {} : { events: once(events) }),
      }
      const before = await find(organizationId, id)
      if (Object.keys(changes).some((field) => field !== 'status')) requireAddress(id)
      const change = {
        organizationId,
        action: 'webhook.updated',
        target: id,
        before,
        after: { ...before, ...changes },
      } as const
      const also = keeping(auditedChange(audit, change))
      return shown(known(await storage.webhookEndpoints.update(id, changes, also)))
    },
    async rotateSecret(organizationId, id, options) {
      const { overlapMs } = parseOptions(rotation, options)
      await find(organizationId, id)
      requireAddress(id)
      const secret = signer.newSecret()
      const request = { secret: box().seal(secret), overlapMs, most: MAX_SECRETS }
      const also = keeping([audit.entry({ organizationId, action: 'webhook.secret_rotated', target: id })])
      const endpoint = known(await storage.webhookEndpoints.rotateSecret(id, request, also))
      return { ...(await shown(endpoint)), secret }
    },
    async test(organizationId, id) {
      const endpoint = await find(organizationId, id)
      requireAddress(id)
      const example = exampleEvent(endpoint.organizationId, clock.now())
      const payload = JSON.stringify(example)
      const eventId = ids.random(testEventIds(id).prefix)
      const posted = await postEvent(services, endpoint, { eventId, eventType: TEST_EVENT_TYPE, payload })
      const verdict = interpretPost(posted.result, endpoint.successStatus, clock.now())
      const attempt = attemptOf(1, posted, verdict.kind === 'succeeded')
      const test = { eventId, organizationId: example.data.organizationId, payload, attempt }
      if (!(await storage.webhookEndpoints.recordTest(id, test, MAX_TESTS))) throw unknownEndpoint()
      const { attempt: _, request, ...record } = attempt
      return { ...record, request: requestOf(eventId, request) }
    },
    async deliveries(organizationId, id, query) {
      const { page, filter } = readDeliveries(query, organizationId)
      await find(organizationId, id)
      const { status: state } = filter
      const found = await storage.webhookEndpoints.deliveries({ endpointId: id, state }, page)
      return listOf(listOfOwner('deliveries', organizationId), found, page, deliveryView)
    },
    async redeliver(organizationId, id, which) {
      const { since } = parseSubject(redeliverInput, which)
      await find(organizationId, id)
      let redelivered = 0
      for (;;) {
        const count = await storage.webhookEndpoints.redeliver(id, { since, most: STEP })
        if (count === 'unknown') throw unknownEndpoint()
        if (count === 'disabled') throw new NotifierError('endpoint_disabled')
        if (count > 0) wake(id)
        redelivered += count
        if (count < STEP) return { redelivered }
        // A synchronous storage would block the process until the last step.
        await nextTurn()
      }
    },
    async redeliverOne(organizationId, id, eventId) {
      await find(organizationId, id)
      const count = await byId(eventId, (known) => {
        if (known.startsWith(testEventIds(id).from)) throw noRepeatedTest()
        return storage.webhookEndpoints.redeliver(id, { eventId: known })
      })
      if (count === 'disabled') throw new NotifierError('endpoint_disabled')
      if (count !== 1) throw noDelivery(eventId)
      wake(id)
      const deliveries = await storage.webhookEndpoints.deliveriesOf(
        [eventId],
        organizationId,
        MOST_DELIVERIES,
      )
      const delivery = deliveries.find(({ endpointId }) => endpointId === id)
      if (delivery === undefined) throw noDelivery(eventId)
      return deliveryView(delivery)
    },
    async delete(organizationId, id) {
      await find(organizationId, id)
      const also = keeping([audit.entry({ organizationId, action: 'webhook.deleted', target: id })])
      let step = await storage.webhookEndpoints.delete(id, STEP, also)
      if (step === 'unknown') throw unknownEndpoint()
      while (step === 'more') {
        await nextTurn()
        step = await storage.webhookEndpoints.delete(id, STEP, also)
      }
    },
  }
}

function unknownEndpoint(): NotifierError {
  return new NotifierError('not_found', { message: 'No webhook endpoint has this id. Check the id.' })
}

function noDelivery(eventId: string): NotifierError {
  return new NotifierError('not_found', {
    message: `This endpoint has no delivery of the event "${eventId.slice(0, 100)}".`,
  })
}

function noRepeatedTest(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: 'A test event is sent once. Send another test event instead.',
    details: { field: 'eventId' },
  })
}

export function once<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)]
}

/** @throws NotifierError `invalid_parameter` for a listener */
function requireAddress(id: string): void {
  if (!isListener(id)) return
  throw new NotifierError('invalid_parameter', {
    message:
      'A listener has no address and no secret, and the application that registers it chooses its events. Only "status" ' +
      'can be changed.',
    details: { field: 'id' },
  })
}

function known(endpoint: WebhookEndpoint | null): WebhookEndpoint {
  if (endpoint === null) throw unknownEndpoint()
  return endpoint
}

/** The body of `test`: the usual payload with its own type, about a made-up notification. */
function exampleEvent(owner: string, now: number) {
  const organizationId = owner === ALL_ORGANIZATIONS ? DEFAULT_ORGANIZATION : owner
  return {
    event: TEST_EVENT_TYPE,
    data: {
      id: `notif_${'0'.repeat(34)}`,
      channel: 'email',
      to: 'ada@example.com',
      status: 'delivered',
      timestamp: new Date(now).toISOString(),
      sequence: 1,
      organizationId,
    },
  }
}

/** The deliveries of the events about one notification. */
export function createEventDeliveries({
  notifications,
  webhookEndpoints,
}: Pick<Storage, 'notifications' | 'webhookEndpoints'>): PerTenant<EventDeliveries> {
  return {
    async webhookDeliveries(organizationId, id) {
      owned(await byId(id, (known) => notifications.get(known)), organizationId, 'notification_not_found')
      const timeline = await notifications.timeline(id)
      const events = timeline.slice(-MOST_EVENTS).map(({ sequence }) => eventId(id, sequence))
      const found = await webhookEndpoints.deliveriesOf(events, organizationId, MOST_LISTED)
      return { items: found.map((each) => ({ ...deliveryView(each), endpointId: each.endpointId })) }
    },
  }
}

/** A delivery as the delivery log shows it. */
function deliveryView(delivery: WebhookDelivery): WebhookDeliveryRecord {
  const { eventId, eventType, state, payload, createdAt, nextAttemptAt, attempts } = delivery
  return {
    eventId,
    event: eventType,
    status: state,
    payload,
    createdAt: new Date(createdAt).toISOString(),
    nextAttemptAt: isoOrNull(nextAttemptAt),
    attempts: attempts.map(({ at, request, ...attempt }) => ({
      ...attempt,
      timestamp: new Date(at).toISOString(),
      request: requestOf(eventId, request),
    })),
  }
}

function lastAttemptOf(deliveries: readonly WebhookDelivery[]): LastAttemptRecord | null {
  const [last] = deliveries
    .flatMap(({ eventType: event, attempts }) => attempts.map((attempt) => ({ event, ...attempt })))
    .sort((one, other) => other.at - one.at)
  if (last === undefined) return null
  const { event, succeeded, status, at } = last
  return { event, succeeded, status, timestamp: new Date(at).toISOString() }
}

function view(endpoint: WebhookEndpoint): Omit<WebhookEndpointRecord, 'lastAttempt'> {
  const { id, url, events, successStatus, status, disabledReason, failingSince, createdAt } = endpoint
  return {
    id,
    url,
    events,
    successStatus,
    status,
    disabledReason,
    failingSince: isoOrNull(failingSince),
    createdAt: new Date(createdAt).toISOString(),
  }
}
