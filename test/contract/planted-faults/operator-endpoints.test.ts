import { isListener } from '../../../src/core/delivery/listeners.ts'
import type { WebhookEndpointRepository } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import { removeDeliveries } from '../../map-storage/webhook-endpoints.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

const endpoints =
  (
    wrong: (
      good: WebhookEndpointRepository,
      ...rest: Parameters<Fault>
    ) => Partial<WebhookEndpointRepository>,
  ): Fault =>
  (good, state) => ({
    ...good,
    webhookEndpoints: { ...good.webhookEndpoints, ...wrong(good.webhookEndpoints, good, state) },
  })

eachIsFound({
  'a change of an endpoint does not store the rest of its commit': [
    'what is stored with a change of an endpoint is stored',
    endpoints(({ rotateSecret }) => ({ rotateSecret: (id, rotation) => rotateSecret(id, rotation) })),
  ],
  'the rest of a commit is stored without the change of an endpoint': [
    'with a change that does not happen',
    endpoints(({ update }, { records }) => ({
      update: async (id, change, also = []) => {
        await records.write([also])
        return update(id, change)
      },
    })),
  ],
  "an operator's endpoint gets the events of one organization": [
    'gets the events of every organization',
    endpoints(({ create }) => ({
      create: (endpoint, most) =>
        create(
          {
            ...endpoint,
            organizationId: endpoint.organizationId.replace(ALL_ORGANIZATIONS, DEFAULT_ORGANIZATION),
          },
          most,
        ),
    })),
  ],
  "deliveries at an operator's endpoint belong to no organization": [
    'gets the events of every organization',
    (good) => ({
      ...good,
      async claim(request) {
        const answer = await good.claim(request)
        const jobs = answer.jobs.map((job) =>
          job.kind === 'event' ? { ...job, organizationId: job.delivery.endpoint.organizationId } : job,
        )
        return { ...answer, jobs }
      },
    }),
  ],
  "an organization reads deliveries at operators' endpoints": [
    'each see endpoints and deliveries of their own',
    endpoints(({ deliveriesOf }) => ({
      deliveriesOf: async (ids, owner, most) => [
        ...(await deliveriesOf(ids, owner, most)),
        ...(await deliveriesOf(ids, ALL_ORGANIZATIONS, most)),
      ],
    })),
  ],
  "an organization lists operators' endpoints": [
    'each see endpoints and deliveries of their own',
    endpoints(({ list }) => ({
      list: async (owner, page) => {
        const [own, others] = [await list(owner, page), await list(ALL_ORGANIZATIONS, page)]
        return { ...own, items: [...own.items, ...others.items] }
      },
    })),
  ],
  "deliveries at operators' endpoints use a page up": [
    'each see endpoints and deliveries of their own',
    endpoints(({ deliveriesOf }, _good, state) => ({
      deliveriesOf: async (ids, owner, most) => {
        const newest = state.deliveries.filter(({ shown }) => ids.includes(shown.eventId)).slice(-most)
        const all = await deliveriesOf(ids, owner, Infinity)
        return all.filter(({ endpointId }) => newest.some(({ endpoint }) => endpoint === endpointId))
      },
    })),
  ],
  'operators have any number of endpoints': [
    'operators have at most so many endpoints',
    endpoints(({ create }) => ({
      create: (endpoint, most) =>
        create(endpoint, endpoint.organizationId === ALL_ORGANIZATIONS && most > 0 ? Infinity : most),
    })),
  ],
  'an endpoint of operators counts as one of the default organization': [
    'operators have at most so many endpoints',
    endpoints(({ create }, _good, state) => ({
      create: async (endpoint, most) => {
        const all = [...state.endpoints.values()].filter(
          ({ organization }) => organization === ALL_ORGANIZATIONS,
        )
        return create(endpoint, endpoint.organizationId === DEFAULT_ORGANIZATION ? most - all.length : most)
      },
    })),
  ],
  "an event about an operator's endpoint names the organization of the delivery": [
    "an operator's endpoint gets the events about no notification",
    (good, state) => ({
      ...good,
      async settle(all) {
        const answers = await good.settle(all)
        const [other] = [...state.endpoints.values()]
          .map(({ organization }) => organization)
          .filter((id) => id !== ALL_ORGANIZATIONS)
        return answers.map((answer) => {
          if (answer.kind !== 'settled' || answer.endpointEvents === undefined) return answer
          const endpointEvents = answer.endpointEvents.map((event) => ({
            ...event,
            data: { ...event.data, organizationId: other ?? '' },
          }))
          return { ...answer, endpointEvents }
        })
      },
    }),
  ],
  "events about endpoints do not reach operators' endpoints": [
    'gets the events about endpoints of organizations',
    (good, state) => ({
      ...good,
      async settle(all) {
        const answers = await good.settle(all)
        removeDeliveries(
          state,
          state.deliveries.filter(({ notification }) => notification === null),
        )
        return answers
      },
    }),
  ],
  'one organization takes all turns': [
    "take turns at an operator's endpoint",
    (good, state) => ({
      ...good,
      claim(request) {
        const [first] = state.deliveries
        for (const job of state.jobs.values())
          if ('shown' in job.subject) Object.assign(job, { organizationId: first?.organization })
        return good.claim(request)
      },
    }),
  ],
  'a redelivery belongs to all organizations': [
    'come back with their organization',
    endpoints(({ redeliver }, _good, state) => ({
      async redeliver(id, which) {
        const count = await redeliver(id, which)
        for (const job of state.jobs.values()) Object.assign(job, { organizationId: ALL_ORGANIZATIONS })
        return count
      },
    })),
  ],
  "a deletion leaves events at operators' endpoints": [
    'of a deleted organization nothing is left',
    (good, state) => ({
      ...good,
      deletions: {
        ...good.deletions,
        async purge(id, most) {
          const others = state.deliveries.filter(({ notification }) => notification === null)
          const answer = await good.deletions.purge(id, most)
          state.deliveries = [...new Set([...state.deliveries, ...others])]
          return answer
        },
      },
    }),
  ],
  "a deletion takes operators' endpoints along": [
    'of a deleted organization nothing is left',
    (good, state) => ({
      ...good,
      deletions: {
        ...good.deletions,
        purge(id, most) {
          for (const { id: endpoint } of [...state.endpoints.values()]) state.endpoints.delete(endpoint)
          return good.deletions.purge(id, most)
        },
      },
    }),
  ],
  'what waits for a listener keeps its notification': [
    'go when their notification is old',
    (good, state) => ({
      ...good,
      async expire(request) {
        const waits = state.deliveries.some(({ endpoint }) => isListener(endpoint))
        return waits ? { removed: {}, unmatched: [], next: null } : good.expire(request)
      },
    }),
  ],
  'the jobs of listeners outlive their events': [
    'go when their notification is old',
    (good, state) => ({
      ...good,
      async expire(request) {
        const jobs = [...state.jobs]
        const answer = await good.expire(request)
        for (const [id, job] of jobs) state.jobs.set(id, job)
        return answer
      },
    }),
  ],
  'a deletion does not count what waits for a listener': [
    'waits for the events of listeners',
    (good, state) => ({
      ...good,
      deletions: {
        ...good.deletions,
        begin(id, deletion) {
          for (const [jobId, { lane }] of state.jobs) if (isListener(lane)) state.jobs.delete(jobId)
          return good.deletions.begin(id, deletion)
        },
      },
    }),
  ],
})
