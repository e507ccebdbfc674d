import type { Storage } from 'carillon'
import * as kit from 'carillon/storage-kit'
import { accept, findIdempotent } from './accept.ts'
import { createCustody } from './custody.ts'
import { claim, recordReceipt, releaseLease, renewLease, settle, startAttempt } from './deliver.ts'
import { claimDue } from './due-records.ts'
import { countJobs, createLogs, createNotifications } from './notifications.ts'
import { apply, createRecords, each } from './records.ts'
import { createDeletions, expire } from './removal.ts'
import { keyOf, type State } from './state.ts'
import { createWebhookEndpoints } from './webhook-endpoints.ts'

/**
 * A storage in memory, as short as the contract allows: it looks through all rows. A change of an item checks first and
 * then changes everything without a pause, so that nothing need be undone. Random histories compare the other storages
 * with it.
 */
export function mapStorage(state: State): Storage {
  return {
    name: 'map',
    durable: false,
    start: async ({ kinds = [], follow } = {}) => {
      for (const kind of kinds) kit.assertKind(kind)
      if (follow !== undefined) state.follow = follow
      apply(state, kit.defaultOrganization)
    },
    stop: async () => {},
    enqueueJobs: async (sink) => {
      if ('enqueue' in sink) state.enqueue = sink.enqueue
    },
    accept: async (requests) => each(requests, (request) => accept(state, request)),
    inspect: async () => ({ version: 0, needed: 0, steps: [], now: state.now(), missingRights: [] }),
    quotaUsed: async (organizationId, period) => state.usage.get(keyOf(organizationId, period)) ?? 0,
    findIdempotent: async (keys) => keys.map((key) => findIdempotent(state, key)),
    claim: async (request) => claim(state, request),
    startAttempts: async (refs) => refs.map((ref) => startAttempt(state, ref)),
    renew: async (refs, leaseMs) => refs.map((ref) => renewLease(state, ref, leaseMs)),
    release: async (refs) => refs.forEach((ref) => void releaseLease(state, ref)),
    settle: async (settlements) => each(settlements, (settlement) => settle(state, settlement)),
    recordReceipts: async (receipts) => each(receipts, (receipt) => recordReceipt(state, receipt)),
    countJobs: async (of, most) => countJobs(state, of, most),
    expire: async (request) => expire(state, request),
    notifications: createNotifications(state),
    logs: createLogs(state),
    records: { ...createRecords(state), claimDue: async (request) => claimDue(state, request) },
    deletions: createDeletions(state),
    custody: createCustody(state),
    webhookEndpoints: createWebhookEndpoints(state),
  }
}
