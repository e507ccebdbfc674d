import { uploadKind } from '../../../src/core/accept/upload.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, pause } from './storage-faults.ts'

type Accept = Storage['accept']
type Requests = Parameters<Accept>[0]

const accepting =
  (wrong: (accept: Accept, requests: Requests, state: State) => ReturnType<Accept>): Fault =>
  (good, state) => ({ ...good, accept: (requests) => wrong(good.accept, requests, state) })

const changing = (change: (request: Requests[number]) => Requests[number]): Fault =>
  accepting((accept, requests) => accept(requests.map(change)))

const notification = (change: object): Fault =>
  changing((request) => ({
    ...request,
    notifications: request.notifications.map((one) => ({ ...one, ...change })),
  }))

eachIsFound({
  'an accept names no uploads': [
    'an upload that a notification names is not removed',
    notification({ uploads: undefined }),
  ],
  'an accept takes uploads that do not exist': [
    'an accept that names an upload which does not exist',
    changing((request) => {
      const notifications = request.notifications.map(({ uploads: _, ...one }) => one)
      return { ...request, notifications }
    }),
  ],
  'a race names a removed upload': [
    'of an accept and a removal in a race',
    accepting(async (accept, requests, state) => {
      const before = state.records.filter(({ kind }) => kind === uploadKind.name)
      await pause()
      state.records = [...state.records.filter(({ kind }) => kind !== uploadKind.name), ...before]
      return accept(requests)
    }),
  ],
  'an accepted notification has no job': [
    'accept stores the notification',
    accepting(async (accept, requests, state) => {
      const answers = await accept(requests)
      state.jobs.clear()
      return answers
    }),
  ],
  'one bad request fails its set': [
    'and it alone',
    accepting(async (accept, requests) => {
      const answers = await accept(requests)
      return answers.map((answer) => answers.find(({ kind }) => kind === 'failed') ?? answer)
    }),
  ],
  'a request that fails uses the quota': [
    'a taken id whole',
    accepting(async (accept, requests, state) => {
      const answers = await accept(requests)
      for (const [index, { organizationId, quota, notifications }] of requests.entries()) {
        if (answers[index]?.kind !== 'failed' || quota === undefined) continue
        const key = `${organizationId}\n${quota.period}`
        state.usage.set(key, (state.usage.get(key) ?? 0) + notifications.length)
      }
      return answers
    }),
  ],
  'a request that fails keeps its idempotency record': [
    'a failed request leaves no record',
    accepting(async (accept, requests) => {
      const answers = await accept(requests)
      for (const [index, request] of requests.entries()) {
        if (answers[index]?.kind === 'failed') await accept([{ ...request, notifications: [] }])
      }
      return answers
    }),
  ],
  'a request that the quota refused keeps its idempotency record': [
    'none is kept for none',
    accepting(async (accept, requests) => {
      const answers = await accept(requests)
      for (const [index, request] of requests.entries()) {
        const answer = answers[index]
        if (answer?.kind === 'accepted' && answer.admitted === 0)
          await accept([{ ...request, notifications: [] }])
      }
      return answers
    }),
  ],
  'the quota is overrun in a race': [
    'ten accepts in a race never exceed the quota',
    accepting(async (accept, requests, state) => {
      const used = new Map(state.usage)
      await pause()
      for (const [key, count] of used) state.usage.set(key, count)
      if (used.size === 0) state.usage.clear()
      return accept(requests)
    }),
  ],
  'the quota is not looked at': [
    'the quota admits in order',
    changing((request) => ({ ...request, quota: request.quota && { ...request.quota, limit: 1e9 } })),
  ],
  'the use of the quota is not kept': [
    'a lowered quota admits nothing more',
    accepting(async (accept, requests, state) => {
      state.usage.clear()
      return accept(requests)
    }),
  ],
  'organizations share a quota': [
    'counts each period and organization apart',
    (good, state) => ({
      ...good,
      quotaUsed: async (_id, period) =>
        [...state.usage].reduce((sum, [key, used]) => (key.endsWith(period) ? sum + used : sum), 0),
    }),
  ],
  'more is said to be admitted than was': [
    'the quota admits in order',
    accepting(async (accept, requests) =>
      (await accept(requests)).map((answer, index) =>
        answer.kind === 'accepted'
          ? { ...answer, admitted: requests[index]?.notifications.length ?? 0 }
          : answer,
      ),
    ),
  ],
  'an idempotency record is lost': [
    'a repeated key is answered from its record',
    accepting(async (accept, requests, state) => {
      const answers = await accept(requests)
      state.idempotency.clear()
      return answers
    }),
  ],
  'an idempotency record answers another operation': [
    'organization, operation and key name a record',
    changing((request) => ({
      ...request,
      idempotency: request.idempotency && { ...request.idempotency, operation: 'send' },
    })),
  ],
  'a look-up finds the record of another operation': [
    'findIdempotent sees nothing of another',
    (good) => ({
      ...good,
      findIdempotent: (keys) => good.findIdempotent(keys.map((key) => ({ ...key, operation: 'send' }))),
    }),
  ],
  'look-ups are answered in another order': [
    'findIdempotent answers in order',
    (good) => ({ ...good, findIdempotent: async (keys) => (await good.findIdempotent(keys)).reverse() }),
  ],
  'an idempotency record never expires': [
    'an expired record is replaced',
    changing((request) => ({
      ...request,
      idempotency: request.idempotency && { ...request.idempotency, ttlMs: 1e12 },
    })),
  ],
  'an idempotency record expires too soon': [
    'lives as long as it was said to',
    changing((request) => ({
      ...request,
      idempotency: request.idempotency && { ...request.idempotency, ttlMs: request.idempotency.ttlMs / 2 },
    })),
  ],
  'equal requests in a race are stored twice': [
    'ten parallel equal requests store once',
    accepting(async (accept, requests, state) => {
      const known = new Map(state.idempotency)
      await pause()
      if (known.size === 0) state.idempotency.clear()
      return accept(requests)
    }),
  ],
  'the order of the notifications is lost': [
    'keeps the order in which notifications were sent',
    changing((request) => ({ ...request, notifications: [...request.notifications].reverse() })),
  ],
  'the answers come in another order': [
    'answers each request of a set, in order',
    accepting(async (accept, requests) => (await accept(requests)).reverse()),
  ],
  'what is of the future is sent at once': ['of the future scheduled', notification({ sendAt: null })],
  'what is due later is claimed at once': [
    'with a due time is first claimed then',
    notification({ dueAt: undefined }),
  ],
  'the priority is lost': ['high goes before normal', notification({ priority: 'normal' })],
  'the expiry is lost': ['until it expires', notification({ expiresAt: null })],
  'an accept writes no records': [
    'records are written with the notifications of their request',
    changing((request) => ({ ...request, records: undefined })),
  ],
  'an accept with records stores the notifications that the quota admits': [
    'a quota admits the whole request with its records, or nothing',
    accepting(async (accept, requests) => {
      const answers = await accept(requests)
      for (const [index, answer] of answers.entries()) {
        const none = answer.kind === 'accepted' && answer.admitted === 0
        if (none) await accept([{ ...(requests[index] as Requests[number]), records: undefined }])
      }
      return answers
    }),
  ],
  'an accept writes records of which the quota refuses notifications': [
    'a quota admits the whole request with its records, or nothing',
    accepting(async (accept, requests) => {
      const answers = await accept(requests.map((request) => ({ ...request, records: undefined })))
      for (const { organizationId, records } of requests)
        await accept([{ organizationId, notifications: [], records }])
      return answers
    }),
  ],
  'an accept stores what a refused record belongs to': [
    'a record that is refused refuses its request alone',
    accepting(async (accept, requests) => {
      const answers = await accept(requests)
      for (const [index, { kind }] of answers.entries())
        if (kind === 'refused') await accept([{ ...(requests[index] as Requests[number]), records: [] }])
      return answers
    }),
  ],
})
