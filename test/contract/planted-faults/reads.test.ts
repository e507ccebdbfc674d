import type { DeletionRepository } from '../../../src/core/ports/storage/deletions.ts'
import type { ExpireAnswer, ExpireRequest } from '../../../src/core/ports/storage/expire.ts'
import type { NotificationRepository } from '../../../src/core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { type State, where } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, forgetUnmatched } from './storage-faults.ts'

type Read = <Row>(list: (page: PageRequest) => Promise<Page<Row>>, page: PageRequest) => Promise<Page<Row>>

/** The same fault in the list of notifications, the log, and a list of records. */
const lists = (read: Read): Readonly<Record<string, Fault>> => ({
  'cover a list once': (good) => ({
    ...good,
    notifications: {
      ...good.notifications,
      list: (filter, page) => read((asked) => good.notifications.list(filter, asked), page),
    },
  }),
  'pages of the log': (good) => ({
    ...good,
    logs: { ...good.logs, list: (filter, page) => read((asked) => good.logs.list(filter, asked), page) },
  }),
  'records are listed newest first': (good) => ({
    ...good,
    records: {
      ...good.records,
      list: (kind, of, page) => read((asked) => good.records.list(kind, of, asked), page),
    },
  }),
})

const READS: Readonly<Record<string, Read>> = {
  'a page holds a row more than asked for': (list, page) => list({ ...page, limit: page.limit + 1 }),
  'a page repeats the last row': async (list, page) => {
    const found = await list({ ...page, limit: Math.max(1, page.limit - 1) })
    return { ...found, items: [...found.items, ...found.items.slice(-1)] }
  },
  'a page leaves a row out': async (list, page) => {
    const found = await list(page)
    return { ...found, items: found.items.slice(1) }
  },
  'a list is oldest first': async (list, page) => {
    const found = await list(page)
    return { ...found, items: [...found.items].reverse() }
  },
  'a list ends with its first page': async (list, page) => ({ ...(await list(page)), nextCursor: null }),
}

const deleting =
  (wrong: (good: DeletionRepository, state: State) => Partial<DeletionRepository>): Fault =>
  (good, state) => ({ ...good, deletions: { ...good.deletions, ...wrong(good.deletions, state) } })

const expiring =
  (
    wrong: (
      expire: Storage['expire'],
      request: ExpireRequest,
      state: State,
    ) => Promise<ExpireAnswer> | ExpireAnswer,
  ): Fault =>
  (good, state) => ({ ...good, expire: async (request) => wrong(good.expire, request, state) })

for (const [name, read] of Object.entries(READS)) {
  eachIsFound(
    Object.fromEntries(
      Object.entries(lists(read)).map(([found, fault]) => [`${name} (${found})`, [found, fault] as const]),
    ),
  )
}

const looking =
  (wrong: (states: NotificationRepository['states']) => NotificationRepository['states']): Fault =>
  (good) => ({ ...good, notifications: { ...good.notifications, states: wrong(good.notifications.states) } })

eachIsFound({
  'a state is that of the accept': [
    'states are the present ones',
    looking((states) => async (ids) => {
      const found = await states(ids)
      return found.map((state) => state && { ...state, status: 'queued' })
    }),
  ],
  'states leave out what is unknown': [
    'states are the present ones',
    looking((states) => async (ids) => (await states(ids)).filter((state) => state !== null)),
  ],
  'states are in an order of their own': [
    'states are the present ones',
    looking((states) => async (ids) => (await states(ids)).toReversed()),
  ],
  'a list holds what is of another organization': [
    'a list is newest first and of one organization',
    (good, state) => ({
      ...good,
      notifications: {
        ...good.notifications,
        async list(filter, page) {
          const all = await Promise.all(
            [...state.notifications.values()].map(({ organization }) =>
              good.notifications.list({ ...filter, organizationId: organization }, page),
            ),
          )
          return { items: all.flatMap(({ items }) => items), nextCursor: null }
        },
      },
    }),
  ],
  'a filter is ignored': [
    'a list is filtered by each property',
    (good) => ({
      ...good,
      notifications: {
        ...good.notifications,
        list: ({ organizationId }, page) => good.notifications.list({ organizationId }, page),
      },
    }),
  ],
  'jobs are counted without a limit': [
    'counts stop at the most',
    (good) => ({ ...good, countJobs: (of) => good.countJobs(of, 1e9) }),
  ],
  'what is under a lease is not counted': [
    'the counts tell what is due, waits and runs',
    (good) => ({
      ...good,
      async countJobs(of, most) {
        const answer = await good.countJobs(of, most)
        return { ...answer, counts: answer.counts.filter(({ state }) => state !== 'running') }
      },
    }),
  ],
  'a deletion leaves the use of the quota': [
    'leaves nothing of it',
    deleting((good, state) => ({
      async purge(id, most) {
        const usage = new Map(state.usage)
        const answer = await good.purge(id, most)
        for (const [key, used] of usage) state.usage.set(key, used)
        return answer
      },
    })),
  ],
  'a deletion leaves records': [
    'leaves nothing of it',
    deleting((good, state) => ({
      async purge(id, most) {
        const before = where(state.records, { organization: id })
        const answer = await good.purge(id, most)
        state.records = [...new Set([...state.records, ...before])]
        return answer
      },
    })),
  ],
  'a deletion removes what is of others': [
    'and all of others',
    deleting((good, state) => ({
      purge(id, most) {
        forgetUnmatched(state)
        return good.purge(id, most)
      },
    })),
  ],
  'a step of a deletion is longer than asked for': [
    'in steps of 1 leaves',
    deleting((good) => ({ purge: (id) => good.purge(id, 100) })),
  ],
  'a deletion begins while jobs wait': [
    'it does not begin while jobs wait',
    deleting((good) => ({ begin: (id, { kinds }) => good.begin(id, { kinds, force: true }) })),
  ],
  'a deletion that has begun leaves the keys': [
    'records of some kinds go',
    deleting((good) => ({ begin: (id, { force }) => good.begin(id, { force, kinds: [] }) })),
  ],
  'a deletion that is under way accepts': [
    'from its begin on nothing is accepted',
    (good) => ({
      ...good,
      async accept(requests) {
        const answers = await good.accept(requests)
        return answers.map((answer) =>
          answer.kind === 'failed' ? { kind: 'accepted', admitted: 1, createdAt: 0 } : answer,
        )
      },
    }),
  ],
  'what has a job expires': [
    'what has a job, a pending delivery or a younger event stays',
    expiring((expire, request, state) => {
      for (const id of state.notifications.keys()) state.jobs.delete(id)
      return expire(request)
    }),
  ],
  'what is young expires': [
    'what is old enough is removed',
    expiring((expire, { what, ...request }) =>
      expire({ ...request, what: 'olderThanMs' in what ? { ...what, olderThanMs: 0 } : what }),
    ),
  ],
  'a step of an expiry is longer than asked for': [
    'a sweep goes on where the step before ended',
    expiring((expire, request) => expire({ ...request, most: 1_000 })),
  ],
  'an expiry begins again at each step': [
    'a sweep goes on where the step before ended',
    expiring((expire, request) => expire({ ...request, after: undefined })),
  ],
  'an expiry leaves the deliveries': [
    'what is old enough is removed with all that belongs to it',
    expiring(async (expire, request, state) => {
      const before = state.deliveries
      const answer = await expire(request)
      state.deliveries = before
      return answer
    }),
  ],
  'an expired report is not told': [
    'what was never matched is reported',
    expiring(async (expire, request) => ({ ...(await expire(request)), unmatched: [] })),
  ],
})
