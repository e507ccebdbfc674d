import type { NotificationRepository, RetryRequest } from '../../../src/core/ports/storage/notifications.ts'
import type { Records } from '../../../src/core/ports/storage/records.ts'
import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

const retrying =
  (wrong: (retry: NotificationRepository['retry'], request: RetryRequest, state: State) => unknown): Fault =>
  (good, state) => ({
    ...good,
    notifications: {
      ...good.notifications,
      retry: (request) =>
        wrong(good.notifications.retry, request, state) as ReturnType<NotificationRepository['retry']>,
    },
  })

const purging =
  (wrong: (state: State, id: string) => void): Fault =>
  (good, state) => ({
    ...good,
    deletions: {
      ...good.deletions,
      async purge(id, most) {
        const answer = await good.deletions.purge(id, most)
        wrong(state, id)
        return answer
      },
    },
  })

eachIsFound({
  'the begin of a deletion does not store the rest of its commit': [
    'what is stored with the begin of a deletion',
    (good) => ({
      ...good,
      deletions: {
        ...good.deletions,
        begin: (id, { force, kinds }) => good.deletions.begin(id, { force, kinds }),
      },
    }),
  ],
  'a retry loses the priority': [
    'a retried notification keeps its priority',
    retrying((retry, request, state) => {
      for (const row of state.notifications.values()) Object.assign(row, { high: false })
      return retry(request)
    }),
  ],
  'a retry loses the trace': [
    'a retried notification keeps its priority',
    retrying((retry, request, state) => {
      for (const row of state.notifications.values()) Object.assign(row, { trace: null })
      return retry(request)
    }),
  ],
  'a deletion resets the quota of organizations whose ids begin alike': [
    'a deletion leaves an organization whose id begins',
    purging((state, id) => {
      for (const key of state.usage.keys()) if (key.startsWith(id)) state.usage.delete(key)
    }),
  ],
  'what retention removes is no longer counted': [
    'what is removed stays counted',
    (good, state) => ({
      ...good,
      async expire(request) {
        const answer = await good.expire(request)
        for (const [key, used] of state.usage)
          state.usage.set(key, used - (answer.removed.notifications ?? 0))
        return answer
      },
    }),
  ],
  'records are read from a cache by their keys until they are read by their ids': [
    'a removed record is gone',
    (good) => ({ ...good, records: { ...good.records, ...cachingKeys(good.records) } }),
  ],
  'an accept stores the first thousand': [
    'all notifications of a large request are stored',
    (good) => ({
      ...good,
      async accept(requests) {
        const answers = await good.accept(
          requests.map((one) => ({ ...one, notifications: one.notifications.slice(0, 1_000) })),
        )
        return answers.map((answer, index) =>
          answer.kind === 'accepted'
            ? { ...answer, admitted: requests[index]?.notifications.length ?? 0 }
            : answer,
        )
      },
    }),
  ],
})

function cachingKeys(good: Records): Pick<Records, 'get'> {
  const cache = new Map<string, unknown>()
  return {
    async get(kind, refs) {
      const found = await good.get(kind, refs)
      return refs.map(({ key }, index) => {
        if (key === undefined || found[index] === undefined) return found[index] ?? null
        const name = `${kind.name} ${kind.version} ${key}`
        if (found[index] !== null && !cache.has(name)) cache.set(name, found[index])
        return (cache.get(name) ?? null) as (typeof found)[number]
      })
    },
  }
}
