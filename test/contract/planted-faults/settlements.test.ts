import type { NotificationRepository } from '../../../src/core/ports/storage/notifications.ts'
import type { ReceiptRecord } from '../../../src/core/ports/storage/receipts.ts'
import type { SettleAnswer, Settlement } from '../../../src/core/ports/storage/settle.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { LANE } from '../../../src/testing/storage/fixtures.ts'
import { createJob, makeDue } from '../../map-storage/accept.ts'
import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, forgetUnmatched, pause } from './storage-faults.ts'

type Settle = Storage['settle']
type Report = Storage['recordReceipts']

const settling =
  (wrong: (settle: Settle, all: readonly Settlement[], state: State) => Promise<SettleAnswer[]>): Fault =>
  (good, state) => ({ ...good, settle: (all) => wrong(good.settle, all, state) })

const changing = (change: (settlement: Settlement) => Settlement): Fault =>
  settling((settle, all) => settle(all.map(change)))

const reporting =
  (wrong: (report: Report, receipts: readonly ReceiptRecord[], state: State) => ReturnType<Report>): Fault =>
  (good, state) => ({ ...good, recordReceipts: (receipts) => wrong(good.recordReceipts, receipts, state) })

type Reschedule = NotificationRepository['reschedule']

const rescheduling =
  (wrong: (reschedule: Reschedule, state: State) => Reschedule): Fault =>
  (good, state) => ({
    ...good,
    notifications: { ...good.notifications, reschedule: wrong(good.notifications.reschedule, state) },
  })

type JudgeAgain = NotificationRepository['judgeAgain']

const judgingAgain =
  (wrong: (judgeAgain: JudgeAgain, state: State) => JudgeAgain): Fault =>
  (good, state) => ({
    ...good,
    notifications: { ...good.notifications, judgeAgain: wrong(good.notifications.judgeAgain, state) },
  })

eachIsFound({
  'a stale token settles a job': [
    'a stale token starts nothing',
    settling((settle, all, state) =>
      settle(all.map((one) => ({ ...one, token: state.jobs.get(one.jobId)?.token ?? one.token }))),
    ),
  ],
  'a stale settlement is said to be recorded': [
    'of ten in a race one does',
    settling(async (settle, all) =>
      (await settle(all)).map((answer) =>
        answer.kind === 'stale' ? { kind: 'settled', events: [] } : answer,
      ),
    ),
  ],
  'a settlement of another kind is recorded': [
    'of the wrong kind is stale',
    changing((one) => (one.kind === 'event' ? { ...one, kind: 'notification', facts: [] } : one)),
  ],
  'a job ends without its facts': [
    'settle records facts',
    changing((one) => (one.kind === 'notification' ? { ...one, facts: [] } : one)),
  ],
  'an event about a provider is not published': [
    'an event about a provider is published',
    changing((one) => (one.kind === 'notification' ? { ...one, providerEvent: undefined } : one)),
  ],
  'facts are stored and their job stays': [
    'settle records facts',
    changing((one) => ({ ...one, next: { kind: 'retry', delayMs: 0 } })),
  ],
  'facts are recorded in another order': [
    'settle records facts',
    changing((one) => (one.kind === 'notification' ? { ...one, facts: [...one.facts].reverse() } : one)),
  ],
  'answers come in another order': [
    'a large set settles in order',
    settling(async (settle, all) => (await settle(all)).reverse()),
  ],
  'one settlement that fails fails the others': [
    'of a receipt or a settlement that fails nothing follows',
    settling(async (settle, all) => {
      const answers = await settle(all)
      return answers.map((answer) => answers.find(({ kind }) => kind === 'failed') ?? answer)
    }),
  ],
  'a retry does not wait': [
    'a retry is due after its delay',
    changing((one) => (one.next.kind === 'retry' ? { ...one, next: { ...one.next, delayMs: 0 } } : one)),
  ],
  'outages are not counted': [
    'met an outage are counted apart',
    changing((one) =>
      one.next.kind === 'retry' ? { ...one, next: { ...one.next, outage: undefined } } : one,
    ),
  ],
  'a recovered job that goes back without a provider call is like any other': [
    'goes back without a provider call stays one',
    changing((one) =>
      one.next.kind === 'retry' ? { ...one, next: { ...one.next, notSent: undefined } } : one,
    ),
  ],
  'the content stays': [
    'replaces the content',
    changing((one) => (one.kind === 'notification' ? { ...one, content: undefined } : one)),
  ],
  'the events of a settlement reach no endpoint': [
    'every endpoint that chose an event gets it',
    settling(async (settle, all, state) => {
      const answers = await settle(all)
      state.deliveries = []
      return answers
    }),
  ],
  'the attempt at an event is not logged': [
    'a delivery that succeeds is logged',
    changing((one) => (one.kind === 'event' ? { ...one, attempt: undefined } : one)),
  ],
  'an endpoint that is gone stays active': [
    'an endpoint that is gone is disabled',
    changing((one) => (one.kind === 'event' ? { ...one, disable: undefined } : one)),
  ],
  'what follows from facts is lost': [
    'what follows from a settlement is stored with it',
    (good) => ({ ...good, start: (given) => good.start({ ...given, follow: () => [] }) }),
  ],
  'a cancellation comes after the start of an attempt': [
    'comes too late while an attempt is running',
    (good, state) => ({
      ...good,
      notifications: {
        ...good.notifications,
        cancel(id, content) {
          Object.assign(state.jobs.get(id) ?? {}, { provider: null })
          return good.notifications.cancel(id, content)
        },
      },
    }),
  ],
  'what was tried once cannot be cancelled': [
    'cancel ends what waits for another attempt, leased or not',
    (good, state) => ({
      ...good,
      notifications: {
        ...good.notifications,
        async cancel(id, content) {
          const { attempts = 0, earlierAttempts = 0 } = state.jobs.get(id) ?? {}
          return attempts > earlierAttempts ? { kind: 'too_late' } : good.notifications.cancel(id, content)
        },
      },
    }),
  ],
  'a cancel keeps silent about an attempt that may have gone': [
    'a cancel says that an earlier attempt may have gone',
    (good, state) => ({
      ...good,
      notifications: {
        ...good.notifications,
        cancel(id, content) {
          state.events = state.events.filter(({ fact }) => !fact.includes('attempt_ambiguous'))
          return good.notifications.cancel(id, content)
        },
      },
    }),
  ],
  'of two cancellations in a race both cancel': [
    'of ten cancels in a race one cancels',
    (good) => ({
      ...good,
      notifications: {
        ...good.notifications,
        async cancel(id, content) {
          const answer = await good.notifications.cancel(id, content)
          return answer.kind === 'ended' ? { kind: 'cancelled', events: [] } : answer
        },
      },
    }),
  ],
  'what is judged again is due before its own time': [
    'what is judged again waits for its own time',
    judgingAgain((judgeAgain, state) => async (request) => {
      const delayed = [...state.jobs.values()].filter(({ delayedFor }) => delayedFor !== null)
      const answer = await judgeAgain(request)
      for (const job of delayed) makeDue(state, job, state.now())
      return answer
    }),
  ],
  'judging again ignores how many it may examine': [
    'a call goes in steps, each over at most so many',
    judgingAgain((judgeAgain) => (request) => judgeAgain({ ...request, most: 1_000 })),
  ],
  'judging again ignores where the step before ended': [
    'a call goes in steps, each over at most so many',
    judgingAgain(
      (judgeAgain) =>
        ({ after: _, ...request }) =>
          judgeAgain(request),
    ),
  ],
  'judging again forgets a row between two steps': [
    'a call goes in steps, each over at most so many',
    judgingAgain((judgeAgain, state) => async (request) => {
      const before = [...state.jobs.values()].map((job) => [job, job.dueAt, job.delayedFor] as const)
      const answer = await judgeAgain(request)
      const last = before.findLast(([{ dueAt }, was]) => dueAt !== was)
      if (answer.next === null || last === undefined) return answer
      const [job, dueAt, delayedFor] = last
      makeDue(state, job, dueAt)
      job.delayedFor = delayedFor
      return answer
    }),
  ],
  'judging again takes messages of another organization': [
    'are judged again at once',
    judgingAgain((judgeAgain, state) => async (request) => {
      const owners = new Set([...state.notifications.values()].map(({ organization }) => organization))
      let moved = 0
      for (const organizationId of owners)
        moved += (await judgeAgain({ ...request, organizationId, after: undefined })).moved
      return { moved, next: null }
    }),
  ],
  'judging again takes everyone in place of a recipient': [
    'are judged again at once',
    judgingAgain(
      (judgeAgain) =>
        ({ of, ...request }) =>
          judgeAgain({ ...request, of: of.by === 'recipient' ? { by: 'all' } : of }),
    ),
  ],
  'judging again takes a job from a process that has it': [
    'a delay ends with its time',
    judgingAgain((judgeAgain, state) => (request) => {
      const ofAda = { address: 'email ada', recipient: 'ada' }
      for (const job of state.jobs.values())
        if (job.leaseUntil !== null)
          Object.assign(job, { leaseUntil: null, dueAt: state.now() + 1, delayedFor: ofAda })
      return judgeAgain(request)
    }),
  ],
  'what waits for another attempt is judged again, too': [
    'what is not delayed is not judged again',
    judgingAgain((judgeAgain, state) => (request) => {
      for (const job of state.jobs.values()) job.delayedFor ??= { address: 'email ada', recipient: null }
      return judgeAgain(request)
    }),
  ],
  'a delay outlives the attempt after it': [
    'a delay ends with its time',
    settling((settle, all, state) => {
      const before = all.map(({ jobId }) => state.jobs.get(jobId)?.delayedFor ?? null)
      return settle(all).finally(() => {
        for (const [at, { jobId }] of all.entries())
          Object.assign(state.jobs.get(jobId) ?? {}, { delayedFor: before[at] })
      })
    }),
  ],
  'a settlement forgets whom it delays': [
    'what was delayed before an attempt is judged again',
    changing(({ ...one }) =>
      one.next.kind === 'end' ? one : { ...one, next: { ...one.next, delayedFor: undefined } },
    ),
  ],
  'of two calls in a race both move a message': [
    'each delayed message is judged again once',
    judgingAgain((_, state) => async ({ organizationId }) => {
      const jobs = [...state.jobs.values()].filter(
        (job) => job.delayedFor !== null && job.organizationId === organizationId,
      )
      await pause()
      for (const job of jobs) makeDue(state, job, state.now())
      return { moved: jobs.length, next: null }
    }),
  ],
  'a reschedule leaves the job at its old time': [
    'is due at its new time',
    rescheduling((reschedule, state) => async (id, sendAt) => {
      const job = state.jobs.get(id)
      const dueAt = job?.dueAt ?? 0
      const answer = await reschedule(id, sendAt)
      if (job !== undefined) makeDue(state, job, dueAt)
      return answer
    }),
  ],
  'a reschedule revives what was cancelled': [
    'revives nothing that was cancelled',
    rescheduling((reschedule, state) => async (id, sendAt) => {
      const subject = state.notifications.get(id)
      if (subject?.status !== 'cancelled') return reschedule(id, sendAt)
      const about = { jobId: id, lane: LANE, organizationId: subject.organization, high: false }
      createJob(state, { ...about, subject, dueAt: sendAt ?? 0 })
      return { kind: 'rescheduled' }
    }),
  ],
  'a reschedule leaves the lease of a claim': [
    'wins over a claim whose attempt has not begun',
    rescheduling((reschedule, state) => async (id, sendAt) => {
      const job = state.jobs.get(id)
      const leaseUntil = job?.leaseUntil ?? null
      const answer = await reschedule(id, sendAt)
      Object.assign(job ?? {}, { leaseUntil })
      return answer
    }),
  ],
  'a reschedule comes after the start of an attempt': [
    'changes nothing that has begun',
    rescheduling((reschedule, state) => (id, sendAt) => {
      Object.assign(state.jobs.get(id) ?? {}, { attempts: 0 })
      return reschedule(id, sendAt)
    }),
  ],
  'a reschedule is not announced': [
    'announced for its new time',
    rescheduling((reschedule, state) => async (id, sendAt) => {
      const { enqueue } = state
      state.enqueue = () => {}
      const answer = await reschedule(id, sendAt)
      state.enqueue = enqueue
      return answer
    }),
  ],
  'reschedules are not counted': [
    'rescheduled at most 100 times',
    rescheduling((reschedule, state) => (id, sendAt) => {
      Object.assign(state.notifications.get(id) ?? {}, { sequence: 1 })
      return reschedule(id, sendAt)
    }),
  ],
  'a reschedule is not in the history': [
    'a reschedule is in the history',
    rescheduling((reschedule, state) => async (id, sendAt) => {
      const answer = await reschedule(id, sendAt)
      state.events.pop()
      return answer
    }),
  ],
  'a repeated report is recorded again': [
    'a repetition is a duplicate',
    reporting((report, receipts, state) => {
      state.receipts.clear()
      return report(receipts)
    }),
  ],
  'equal reports in a race are recorded twice': [
    'of ten equal receipts in a race one is recorded',
    reporting(async (report, receipts, state) => {
      const known = new Map(state.receipts)
      await pause()
      if (known.size === 0) state.receipts.clear()
      return report(receipts)
    }),
  ],
  'a report that comes too early is dropped': [
    'a receipt before `sent` waits for it',
    reporting(async (report, receipts, state) => {
      const answers = await report(receipts)
      forgetUnmatched(state)
      return answers
    }),
  ],
  'a report that comes too early is applied twice': [
    'an unmatched receipt is applied once',
    settling(async (settle, all, state) => {
      const waiting = new Map(state.receipts)
      const answers = await settle(all)
      for (const [key, report] of waiting) state.receipts.set(key, report)
      return answers
    }),
  ],
  "another organization's instance is believed": [
    "cannot speak of another's notifications",
    reporting((report, receipts) => report(receipts.map((one) => ({ ...one, organizationId: null })))),
  ],
  'a key of one provider is that of all': [
    'different providers may use the same key',
    reporting(async (report, receipts, state) => {
      const keys = new Set([...state.receipts.keys()].map((key) => key.split('\n').at(-1)))
      if (receipts.some(({ dedupeKey }) => keys.has(dedupeKey)))
        return receipts.map(() => ({ kind: 'duplicate' }))
      return report(receipts)
    }),
  ],
  'a consent is not applied': [
    'reports and consents of one set',
    reporting((report, receipts) =>
      report(receipts.map((one) => ('consent' in one ? { ...one, consent: [] } : one))),
    ),
  ],
  'a received text is not published': [
    'a received text is published once',
    reporting((report, receipts) =>
      report(receipts.map((one) => ('consent' in one ? { ...one, received: undefined } : one))),
    ),
  ],
})
