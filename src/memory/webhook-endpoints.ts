import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { WebhookEndpoint, WebhookEndpointRepository } from '../ports/storage/webhook-endpoints.ts'
import { removeJob } from './jobs.ts'
import { requireOrganization } from './organizations.ts'
import { pageOf } from './page.ts'
import { type MemoryState, nextNumber } from './state.ts'

export function memoryWebhookEndpoints(state: MemoryState): WebhookEndpointRepository {
  return {
    async create(endpoint) {
      requireOrganization(state, endpoint.organizationId)
      if (state.endpoints.has(endpoint.id)) {
        throw new NotifierError('already_exists', { message: 'A webhook endpoint with this id exists.' })
      }
      const created: WebhookEndpoint = {
        ...endpoint,
        status: 'active',
        disabledReason: null,
        createdAt: state.now(),
      }
      state.endpoints.set(endpoint.id, { ...created, number: nextNumber(state) })
      return created
    },
    async get(id) {
      const stored = state.endpoints.get(id)
      return stored === undefined ? null : toEndpoint(stored)
    },
    async list(organizationId, page) {
      const endpoints = [...state.endpoints.values()]
      return pageOf(
        endpoints.filter((endpoint) => endpoint.organizationId === organizationId),
        page,
        toEndpoint,
      )
    },
    async delete(id) {
      for (const job of state.jobs.values()) if (job.lane === id) removeJob(state, job)
      for (const [number, { endpointId }] of state.deliveries) {
        if (endpointId === id) state.deliveries.delete(number)
      }
      return state.endpoints.delete(id)
    },
  }
}

function toEndpoint({ number, ...endpoint }: WebhookEndpoint & { number: number }): WebhookEndpoint {
  return endpoint
}
