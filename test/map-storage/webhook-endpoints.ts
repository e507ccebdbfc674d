import { NotifierError } from 'carillon'
import * as kit from 'carillon/storage-kit'
import { disable, makePending } from './accept.ts'
import { follow, requireOpen } from './records.ts'
import { type DeliveryRow, type EndpointRow, pageOf, type State, where } from './state.ts'

export function createWebhookEndpoints(state: State): kit.WebhookEndpointRepository {
  const { endpoints } = state
  const endpointsOf = (organization: string) => where(endpoints.values(), { organization })
  const deliveriesTo = (endpoint: string) => where(state.deliveries, { endpoint })

  /** Changes an endpoint, and reads it. */
  function change(
    id: string,
    how: (row: EndpointRow) => object = () => ({}),
    also: readonly kit.FollowingWrite[] = [],
  ): kit.WebhookEndpoint | null {
    const row = endpoints.get(id)
    if (row === undefined) return null
    follow(state, also)
    return kit.toEndpoint(Object.assign(row, how(row)), state.now())
  }

  function withNext({ seq, shown }: DeliveryRow): kit.WebhookDelivery {
    const job = state.jobs.get(String(seq))
    const waits = job !== undefined && job.leaseUntil === null && job.dueAt > state.now()
    return { ...shown, nextAttemptAt: waits ? job.dueAt : null }
  }

  return {
    create: async (endpoint, most, also) => {
      const { id, organizationId: organization, url, successStatus: success_status } = endpoint
      if (organization !== kit.ALL_ORGANIZATIONS) requireOpen(state, organization)
      if (endpoints.has(id)) throw new NotifierError('already_exists')
      if (endpointsOf(organization).length >= most) return null
      endpoints.set(id, {
        ...{ seq: state.next(), id, organization, url, success_status, created_at: state.now() },
        ...{ events: JSON.stringify(endpoint.events), status: 'active', disabled_reason: null },
        ...{ secrets: JSON.stringify(endpoint.secrets), secret_ends: null },
        ...{ health: kit.NEW_HEALTH, failing_since: null },
      })
      return change(id, undefined, also)
    },
    get: async (id) => change(id),
    list: async (id, page) => pageOf(endpointsOf(id), page, (row) => kit.toEndpoint(row, state.now())),
    update: async (id, { url, events, successStatus, status }, also) => {
      const changed = (row: EndpointRow) => {
        if (status === 'active' || (url ?? row.url) !== row.url) setHealth(row, kit.healed(row.health))
        if (status === 'active') Object.assign(row, { status, disabled_reason: null })
        if (status === 'disabled' && row.status === 'active') disable(state, row, 'manual')
        return {
          url: url ?? row.url,
          events: events === undefined ? row.events : JSON.stringify(events),
          success_status: successStatus ?? row.success_status,
        }
      }
      return change(id, changed, also)
    },
    rotateSecret: async (id, rotation, also) => {
      const rotated = (row: EndpointRow) => {
        const { secrets, ends: secret_ends } = kit.rotatedSecrets(row, rotation, state.now())
        return { secrets, secret_ends }
      }
      return change(id, rotated, also)
    },
    deliveries: async ({ endpointId, state: wanted }, page) => {
      const matches = ({ shown }: DeliveryRow) => shown.state === (wanted ?? shown.state)
      return pageOf(deliveriesTo(endpointId), page, withNext, matches)
    },
    deliveriesOf: async (eventIds, owner, most) => {
      const isOwn = ({ endpoint }: DeliveryRow) => endpoints.get(endpoint)?.organization === owner
      const own = state.deliveries.filter(isOwn).reverse()
      const rows = own.filter(({ shown }) => eventIds.includes(shown.eventId))
      return rows.slice(0, most).map((row) => ({ ...withNext(row), endpointId: row.endpoint }))
    },
    recordTest: async (endpoint, { organizationId: organization, attempt, ...test }, most) => {
      if (!endpoints.has(endpoint)) return false
      const [at, ended] = [state.now(), attempt.succeeded ? ('delivered' as const) : ('failed' as const)]
      const about = { ...test, eventType: kit.TEST_EVENT_TYPE, createdAt: at, state: ended }
      const shown = { ...about, attempts: [{ ...attempt, at }] }
      state.deliveries.push({ seq: state.next(), organization, endpoint, notification: null, shown })
      removeDeliveries(state, deliveriesTo(endpoint).filter(isTest).slice(0, -most))
      return true
    },
    redeliver: async (id, which) => {
      const status = endpoints.get(id)?.status ?? 'unknown'
      if (status !== 'active') return status
      const { since = 0, most = 1 } = which.eventId === undefined ? which : {}
      const rows = deliveriesTo(id).filter(({ shown }) => shown.eventId === (which.eventId ?? shown.eventId))
      const over = rows.filter(
        (row) => row.shown.state !== 'pending' && row.shown.state !== 'delivered' && !isTest(row),
      )
      const old = over.filter(({ shown }) => shown.createdAt >= since)
      const some = (which.eventId === undefined ? old : rows).slice(0, most)
      for (const row of some) makePending(state, row)
      return some.length
    },
    delete: async (id, most, also = []) => {
      if (!endpoints.has(id)) return 'unknown'
      const own = deliveriesTo(id)
      removeDeliveries(state, own.slice(0, most))
      if (own.length > most) return 'more'
      endpoints.delete(id)
      follow(state, also)
      return 'deleted'
    },
  }
}

function isTest({ shown }: DeliveryRow): boolean {
  return shown.eventType === kit.TEST_EVENT_TYPE
}

export function removeDeliveries(state: State, rows: readonly DeliveryRow[]): void {
  for (const { seq } of rows) state.jobs.delete(String(seq))
  state.deliveries = state.deliveries.filter((row) => !rows.includes(row))
}

export function setHealth(row: EndpointRow, health: kit.EndpointHealth): void {
  Object.assign(row, { health, failing_since: health.failingSince })
}
