import { healed, NEW_HEALTH } from '../../src/core/delivery/endpoint-health.ts'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type {
  EndpointChange,
  SecretRotation,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointRepository,
} from '../../src/core/ports/storage/webhook-endpoints.ts'
import { createEventJob, removeDelivery } from './facts.ts'
import { makeDue, removeJob } from './jobs.ts'
import { pageOf } from './page.ts'
import { requireOrganization } from './records.ts'
import { disable } from './settle.ts'
import { type MemoryState, nextNumber, type StoredDelivery, type StoredEndpoint } from './state.ts'

export function memoryWebhookEndpoints(state: MemoryState): WebhookEndpointRepository {
  return {
    async create(endpoint, most) {
      requireOrganization(state, endpoint.organizationId)
      if (state.endpoints.has(endpoint.id)) {
        throw new NotifierError('already_exists', { message: 'A webhook endpoint with this id exists.' })
      }
      const own = [...state.endpoints.values()].filter(
        ({ organizationId }) => organizationId === endpoint.organizationId,
      )
      if (own.length >= most) return null
      const created: StoredEndpoint = {
        ...endpoint,
        secrets: endpoint.secrets.map((secret) => ({ secret, endsAt: Infinity })),
        status: 'active',
        disabledReason: null,
        health: NEW_HEALTH,
        createdAt: state.now(),
        number: nextNumber(state),
      }
      state.endpoints.set(endpoint.id, created)
      return toEndpoint(state, created)
    },
    async get(id) {
      const stored = state.endpoints.get(id)
      return stored === undefined ? null : toEndpoint(state, stored)
    },
    async list(organizationId, page) {
      const endpoints = [...state.endpoints.values()]
      return pageOf(
        endpoints.filter((endpoint) => endpoint.organizationId === organizationId),
        page,
        (endpoint) => toEndpoint(state, endpoint),
      )
    },
    async update(id, change) {
      return update(state, id, change)
    },
    async rotateSecret(id, rotation) {
      return rotateSecret(state, id, rotation)
    },
    async deliveries({ endpointId, state: wanted }, page) {
      const deliveries = [...state.deliveries.values()].filter(
        (delivery) =>
          delivery.endpointId === endpointId && (wanted === undefined || delivery.state === wanted),
      )
      return pageOf(deliveries, page, toDelivery)
    },
    async deliveriesOf(eventIds, most) {
      const wanted = new Set(eventIds)
      const found = [...state.deliveries.values()].filter(({ eventId }) => wanted.has(eventId))
      return found
        .reverse()
        .slice(0, most)
        .map((delivery) => ({ ...toDelivery(delivery), endpointId: delivery.endpointId }))
    },
    async redeliver(id, which) {
      const status = state.endpoints.get(id)?.status ?? 'unknown'
      if (status !== 'active') return status
      const deliveries = [...state.deliveries.values()]
      if (which.eventId === undefined) {
        const { since, most } = which
        const some = deliveries.filter((delivery) => isOver(delivery, id, since)).slice(0, most)
        for (const delivery of some) makePending(state, delivery)
        return some.length
      }
      const delivery = deliveries.find((one) => one.endpointId === id && one.eventId === which.eventId)
      if (delivery === undefined) return 0
      if (delivery.state !== 'pending') makePending(state, delivery)
      else hurry(state, delivery)
      return 1
    },
    async delete(id, most) {
      if (!state.endpoints.has(id)) return 'unknown'
      const own = [...state.deliveries.values()].filter(({ endpointId }) => endpointId === id)
      const gone = new Set(own.slice(0, most))
      for (const delivery of gone) removeDelivery(state, delivery)
      for (const job of state.jobs.values()) {
        if (job.subject.kind === 'event' && gone.has(job.subject.delivery)) removeJob(state, job)
      }
      if (own.length > most) return 'more'
      state.endpoints.delete(id)
      return 'deleted'
    },
  }
}

export function toEndpoint(state: MemoryState, stored: StoredEndpoint): WebhookEndpoint {
  const { number, health, ...endpoint } = stored
  const now = state.now()
  const secrets = stored.secrets.filter(({ endsAt }) => endsAt > now).map(({ secret }) => secret)
  return { ...endpoint, failingSince: health.failingSince, secrets }
}

function update(state: MemoryState, id: string, change: EndpointChange): WebhookEndpoint | null {
  const before = state.endpoints.get(id)
  if (before === undefined) return null
  const { url, events, successStatus, status } = change
  state.endpoints.set(id, {
    ...before,
    url: url ?? before.url,
    events: events ?? before.events,
    successStatus: successStatus ?? before.successStatus,
    ...(status === 'active' ? { status, disabledReason: null } : {}),
    ...(status === 'active' || (url ?? before.url) !== before.url ? { health: healed(before.health) } : {}),
  })
  if (status === 'disabled' && before.status === 'active') disable(state, id, 'manual')
  return toEndpoint(state, state.endpoints.get(id) ?? before)
}

function rotateSecret(state: MemoryState, id: string, rotation: SecretRotation): WebhookEndpoint | null {
  const before = state.endpoints.get(id)
  if (before === undefined) return null
  const latest = state.now() + rotation.overlapMs
  const older = before.secrets
    .map(({ secret, endsAt }) => ({ secret, endsAt: Math.min(endsAt, latest) }))
    .filter(({ endsAt }) => endsAt > state.now())
  const secrets = [{ secret: rotation.secret, endsAt: Infinity }, ...older].slice(0, rotation.most)
  const after = { ...before, secrets }
  state.endpoints.set(id, after)
  return toEndpoint(state, after)
}

/** Held or failed, for an event since then. */
function isOver(delivery: StoredDelivery, endpointId: string, since: number): boolean {
  const over = delivery.state === 'held' || delivery.state === 'failed'
  return over && delivery.endpointId === endpointId && delivery.createdAt >= since
}

function makePending(state: MemoryState, delivery: StoredDelivery): void {
  delivery.state = 'pending'
  createEventJob(state, delivery)
}

/** Makes a delivery that waits for its next attempt due now; leaves one under way alone. */
function hurry(state: MemoryState, delivery: StoredDelivery): void {
  for (const job of state.jobs.values()) {
    const own = job.subject.kind === 'event' && job.subject.delivery === delivery
    if (!own || job.state !== 'waiting') continue
    makeDue(state, job, state.now())
    state.enqueue?.(job)
  }
}

function toDelivery(delivery: StoredDelivery): WebhookDelivery {
  const { eventId, eventType, payload, state, createdAt, attempts } = delivery
  return { eventId, eventType, payload, state, createdAt, attempts: [...attempts] }
}
