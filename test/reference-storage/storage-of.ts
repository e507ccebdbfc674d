import type { JobRef } from '../../src/core/ports/queue.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { acceptRequest, findIdempotent, quotaUsed } from './accept.ts'
import { claim, releaseLease, renewLease, startAttempt } from './claim.ts'
import { countJobs } from './count-jobs.ts'
import { expire } from './expire.ts'
import { memoryLogs, memoryNotifications } from './notifications.ts'
import { memoryDeletions } from './purge.ts'
import { recordReceipt } from './receipts.ts'
import { createDefaultOrganization, memoryRecords } from './records.ts'
import { settleOne } from './settle.ts'
import type { Job, MemoryState } from './state.ts'
import { memoryWebhookEndpoints } from './webhook-endpoints.ts'

/**
 * A storage with a given state, which tests can inspect.
 *
 * Every method completes its work before it returns its promise, so the verbs are atomic: JavaScript is
 * single-threaded.
 */
export function storageOf(state: MemoryState): Storage {
  createDefaultOrganization(state)
  return {
    name: 'reference',
    durable: false,
    async start({ follow } = {}) {
      if (follow !== undefined) state.follow = follow
    },
    async stop() {},
    async enqueueJobs(sink) {
      if ('enqueue' in sink) state.enqueue = batched(state, sink.enqueue)
    },
    async accept(requests) {
      return requests.map((request) => acceptRequest(state, request))
    },
    async quotaUsed(organizationId, period) {
      return quotaUsed(state, organizationId, period)
    },
    async findIdempotent(keys) {
      return keys.map((key) => findIdempotent(state, key))
    },
    async claim(request) {
      return claim(state, request)
    },
    async startAttempts(refs) {
      return refs.map((ref) => startAttempt(state, ref))
    },
    async renew(refs, leaseMs) {
      return refs.map((ref) => renewLease(state, ref, leaseMs))
    },
    async release(refs) {
      for (const ref of refs) releaseLease(state, ref)
    },
    async settle(settlements) {
      return settlements.map((settlement) => settleOne(state, settlement))
    },
    async recordReceipts(receipts) {
      return receipts.map((receipt) => recordReceipt(state, receipt))
    },
    async countJobs(of, most) {
      return countJobs(state, of, most)
    },
    async expire(request) {
      return expire(state, request)
    },
    notifications: memoryNotifications(state),
    logs: memoryLogs(state),
    records: memoryRecords(state),
    deletions: memoryDeletions(state),
    webhookEndpoints: memoryWebhookEndpoints(state),
  }
}

/** Enqueues the jobs of one verb together, after it. */
function batched(state: MemoryState, enqueue: (refs: readonly JobRef[]) => void): (job: Job) => void {
  let refs: JobRef[] = []
  function flush(): void {
    const all = refs
    refs = []
    enqueue(all)
  }
  return ({ number, lane, dueAt }) => {
    if (refs.length === 0) queueMicrotask(flush)
    refs.push({ jobId: String(number), lane, dueInMs: Math.max(0, dueAt - state.now()) })
  }
}
