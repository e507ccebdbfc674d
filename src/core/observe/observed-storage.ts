import { inTime } from '../loop/within.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { AcceptAnswer, AcceptRequest, JoinedTransaction } from '../ports/storage/accept.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { metricLaneOf } from './fold-lanes.ts'
import type { Observer } from './observer.ts'
import type { StorageVerb } from './telemetry.ts'

/** Timeout of the calls a send waits for. Afterwards it is unknown whether an accept was stored. */
const ANSWER_MS = 60_000

/**
 * The same storage with metrics of its hot verbs, one record per set. Accepts and lookups of idempotency records have a
 * timeout of one minute.
 */
export function observedStorage(
  storage: Storage<unknown>,
  parts: { readonly observer: Observer; readonly listeners: ProcessListeners; readonly clock: Clock },
): Storage<unknown> {
  const { observer, listeners, clock } = parts
  const { enqueueJobs, check } = storage
  const answered = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    inTime(`storage "${storage.name}"`, call, ANSWER_MS, clock)

  async function timed<Answer>(
    verb: StorageVerb,
    items: number,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const began = clock.monotonic()
    let failed = true
    try {
      const answer = await call()
      failed = false
      return answer
    } finally {
      observer.record({ type: 'stored', verb, items, durationMs: clock.monotonic() - began, failed })
    }
  }

  /** Counts sends of one commit together. */
  function recordAccepted(requests: readonly AcceptRequest[], answers: readonly AcceptAnswer[]): void {
    const counts = new Map<string, number>()
    for (const [index, { notifications }] of requests.entries()) {
      const answer = answers[index]
      if (answer?.kind !== 'accepted') continue
      const admitted =
        answer.admitted === notifications.length ? notifications : notifications.slice(0, answer.admitted)
      for (const { channel } of admitted) counts.set(channel, (counts.get(channel) ?? 0) + 1)
    }
    for (const [channel, count] of counts) observer.record({ type: 'accepted', channel, count })
  }

  function tellAccepted(requests: readonly AcceptRequest[], answers: readonly AcceptAnswer[]): void {
    for (const [index, { notifications, organizationId }] of requests.entries()) {
      const answer = answers[index]
      if (answer?.kind !== 'accepted') continue
      const { createdAt, admitted } = answer
      const timestamp = new Date(createdAt).toISOString()
      for (const { id, channel, to, sendAt } of notifications.slice(0, admitted)) {
        const status = sendAt !== null && sendAt > createdAt ? 'scheduled' : 'queued'
        const data = { id, channel, to, organizationId, status, timestamp, sequence: 1 } as const
        listeners.tell({ event: 'notification.accepted', data })
      }
    }
  }

  function accepted(requests: readonly AcceptRequest[], answers: readonly AcceptAnswer[]): void {
    recordAccepted(requests, answers)
    if (listeners.wants('notification.accepted')) tellAccepted(requests, answers)
  }

  async function join(tx: unknown): Promise<JoinedTransaction> {
    const transaction = await storage.join?.(tx)
    if (transaction === undefined) throw new Error('The storage joined nothing.')
    return {
      ...transaction,
      async accept(request) {
        const joined = await timed('accept', 1, () => transaction.accept(request))
        void joined.committed.then((yes) => {
          if (yes) accepted([request], [joined.answer])
        })
        return joined
      },
    }
  }

  function recordClaimed(job: ClaimedJob): void {
    observer.record({ type: 'claimed', lane: metricLaneOf(job), waitedMs: job.waitedMs })
  }

  function recordLost(): void {
    observer.record({ type: 'lease_lost' })
  }

  return {
    name: storage.name,
    durable: storage.durable,
    start: (given) => storage.start(given),
    stop: () => storage.stop(),
    ...(check && { check: () => check.call(storage) }),
    ...(enqueueJobs && { enqueueJobs: (to) => enqueueJobs.call(storage, to) }),
    async accept(requests) {
      const answers = await timed('accept', requests.length, () => answered(() => storage.accept(requests)))
      accepted(requests, answers)
      return answers
    },
    ...(storage.join === undefined ? {} : { join }),
    quotaUsed: (organizationId, period) => storage.quotaUsed(organizationId, period),
    findIdempotent: (keys) => answered(() => storage.findIdempotent(keys)),
    async claim(request) {
      const answer = await timed('claim', 1, () => storage.claim(request))
      for (const job of answer.jobs) recordClaimed(job)
      return answer
    },
    async startAttempts(refs) {
      const answers = await timed('start', refs.length, () => storage.startAttempts(refs))
      for (const begun of answers) if (!begun) recordLost()
      return answers
    },
    renew: (refs, leaseMs) => timed('renew', refs.length, () => storage.renew(refs, leaseMs)),
    release: (refs) => storage.release(refs),
    async settle(settlements) {
      const answers = await timed('settle', settlements.length, () => storage.settle(settlements))
      // A lost lease appears here or at the start of the attempt, once.
      for (const { kind } of answers) if (kind === 'stale') recordLost()
      return answers
    },
    recordReceipts: (receipts) => storage.recordReceipts(receipts),
    backlog: (most) => storage.backlog(most),
    notifications: storage.notifications,
    logs: storage.logs,
    records: storage.records,
    deletions: storage.deletions,
    webhookEndpoints: storage.webhookEndpoints,
    expire: (request) => storage.expire(request),
  }
}
