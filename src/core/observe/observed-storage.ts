import type { NewNotification } from '../notification/notification.ts'
import type { AcceptedEvent, ProcessListeners } from '../notification/process-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { AcceptAnswer, AcceptRequest } from '../ports/storage/accept.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { metricLaneOf } from './fold-lanes.ts'
import type { Observer } from './observer.ts'
import { around, type Verbs, watched } from './plugin-calls.ts'
import type { StorageVerb } from './telemetry.ts'

/** Timeout of a start: a migration of a large schema takes minutes. */
const START_MS = 10 * 60_000
/** Timeout of an inspection. */
const INSPECT_MS = 30_000
/** Timeout of the calls a send waits for. Afterwards it is unknown whether an accept was stored. */
const ANSWER_MS = 60_000

type Watched = Omit<Storage<unknown>, 'name' | 'durable' | 'onWork'>

/** What a process counts, measures and announces of its storage. */
export interface StorageObservation {
  readonly observer: Observer
  readonly listeners: ProcessListeners
  readonly clock: Clock
}

/** The same storage with its verbs counted, measured, limited in time and announced, one record per set. */
export function observedStorage(
  storage: Storage<unknown>,
  observation: StorageObservation,
): Storage<unknown> {
  const { name, durable } = storage
  const part = `storage "${name}"`
  return {
    name,
    durable,
    ...(storage.onWork && { onWork: storage.onWork.bind(storage) }),
    ...watched<Watched>(part, storage, verbsOf(part, observation), observation.clock),
  }
}

function verbsOf(part: string, { observer, listeners, clock }: StorageObservation): Verbs<Watched> {
  /** @param count receives each answer */
  function measured<Args extends readonly unknown[], Answer>(
    verb: StorageVerb,
    count: (answer: Answer, args: Args) => void = () => {},
  ) {
    function record([set]: Args, durationMs: number, failed: boolean): void {
      const items = Array.isArray(set) ? set.length : 1
      observer.record({ type: 'stored', verb, items, durationMs, failed })
    }
    return {
      answered(answer: Answer, args: Args, durationMs: number): Answer {
        record(args, durationMs, false)
        count(answer, args)
        return answer
      },
      failed: (args: Args, durationMs: number) => record(args, durationMs, true),
    }
  }

  /** Counts the notifications of one commit together. */
  function accepted(answers: AcceptAnswer[], [requests]: [readonly AcceptRequest[]]): void {
    const counts = new Map<string, number>()
    const announced = listeners.wants('notification.accepted')
    for (const [index, { notifications, organizationId }] of requests.entries()) {
      const answer = answers[index]
      if (answer?.kind !== 'accepted') continue
      const { admitted, createdAt } = answer
      for (const notification of notifications.slice(0, admitted)) {
        const { channel } = notification
        counts.set(channel, (counts.get(channel) ?? 0) + 1)
        if (announced) listeners.tell(acceptedEvent(notification, organizationId, createdAt))
      }
    }
    for (const [channel, count] of counts) observer.record({ type: 'accepted', channel, count })
  }

  function recordLost(lost: boolean): void {
    if (lost) observer.record({ type: 'lease_lost' })
  }

  return {
    start: { withinMs: START_MS },
    stop: {},
    check: {},
    enqueueJobs: {},
    accept: { ...measured('accept', accepted), withinMs: ANSWER_MS },
    join: {
      answered: (transaction) => ({
        ...transaction,
        // An exception may be that of a function of the application, which must get it as it is.
        accept: around(
          part,
          (request: AcceptRequest) => transaction.accept(request),
          measured('accept', ({ committed, answer }, [request]) => {
            void committed.then((yes) => {
              if (yes) accepted([answer], [[request]])
            })
          }),
          clock,
        ),
        cancel: (id, content) => transaction.cancel(id, content),
        reschedule: (id, sendAt) => transaction.reschedule(id, sendAt),
      }),
    },
    inspect: { withinMs: INSPECT_MS },
    quotaUsed: {},
    findIdempotent: { withinMs: ANSWER_MS },
    claim: measured('claim', ({ jobs }) => {
      for (const job of jobs)
        observer.record({ type: 'claimed', lane: metricLaneOf(job), waitedMs: job.waitedMs })
    }),
    startAttempts: measured('start', (answers) => {
      for (const begun of answers) recordLost(!begun)
    }),
    renew: measured('renew'),
    release: {},
    // A lost lease appears here or at the start of the attempt, once.
    settle: measured('settle', (answers) => {
      for (const { kind } of answers) recordLost(kind === 'stale')
    }),
    recordReceipts: {},
    countJobs: {},
    expire: {},
    notifications: {
      get: {},
      states: {},
      list: {},
      failures: {},
      timeline: {},
      cancel: {},
      reschedule: {},
      judgeAgain: {},
      retry: {},
    },
    logs: { list: {}, count: {} },
    records: { get: {}, write: {}, list: {}, stored: {}, removeOld: {}, claimDue: {} },
    deletions: { begin: {}, purge: {} },
    custody: { erase: {}, eraseCopies: {}, reports: {}, removeReports: {}, mark: {}, passed: {} },
    webhookEndpoints: {
      create: {},
      get: {},
      list: {},
      update: {},
      rotateSecret: {},
      deliveries: {},
      deliveriesOf: {},
      recordTest: {},
      redeliver: {},
      delete: {},
    },
  }
}

function acceptedEvent(
  { id, channel, to, sendAt }: NewNotification,
  organizationId: string,
  createdAt: number,
): AcceptedEvent {
  const status = sendAt !== null && sendAt > createdAt ? 'scheduled' : 'queued'
  const timestamp = new Date(createdAt).toISOString()
  return {
    event: 'notification.accepted',
    data: { id, channel, to, organizationId, status, timestamp, sequence: 1 },
  }
}
