import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { organizationKind } from '../../src/core/tenancy/organization.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { createState, type MemoryState } from '../reference-storage/state.ts'
import { storageOf } from '../reference-storage/storage-of.ts'

/** @param change makes another storage of each instance, for example one with a fault */
export async function memoryHarness(
  change: (storage: Storage, state: MemoryState) => Storage = (storage) => storage,
): Promise<StorageHarness> {
  let now = Date.now()
  const state = createState(() => now)
  const open = () => change(storageOf(state), state)
  const storage = open()
  await storage.start()
  return {
    storage,
    advance(ms) {
      now += ms
    },
    another: open,
    secondDoor: {
      async notifications() {
        return [...state.notifications.values()].map(({ id, organizationId, facts: { status } }) => ({
          id,
          organizationId,
          status,
        }))
      },
      async jobs() {
        return [...state.jobs.values()].map((job) => {
          if (job.state === 'done') throw new Error('a finished job is still stored')
          return { ...job, id: String(job.number), state: job.state }
        })
      },
      async events() {
        return [...state.notifications.values()].flatMap(({ id: notificationId, timeline }) =>
          timeline.slice(1).map((entry) => ({ ...entry, notificationId })),
        )
      },
      async deliveries() {
        return [...state.deliveries.values()].map((row) => ({ ...row, attempts: row.attempts.length }))
      },
      async dependents() {
        const countOf = (lists: Iterable<readonly unknown[]>): number => [...lists].flat().length
        return {
          handovers: countOf(state.handovers.values()),
          deliveryAttempts: [...state.deliveries.values()].flatMap(({ attempts }) => attempts).length,
          receipts: state.receipts.size,
          unmatchedReceipts: countOf(state.unmatched.values()),
        }
      },
      async owned(id) {
        const own = (row: { readonly organizationId?: string | null }): boolean => row.organizationId === id
        const named = (map: ReadonlyMap<string, unknown>): number =>
          [...map.keys()].filter((key) => key.startsWith(`${id}\n`)).length
        const counts = {
          organizations: Number(state.records.get(organizationKind.name)?.has(id)),
          ...Object.fromEntries(
            [...state.records].map(([kind, table]) => [
              `records of ${kind}`,
              [...table.values()].filter(own).length,
            ]),
          ),
          notifications: [...state.notifications.values()].filter(own).length,
          listed: state.notificationsOf.get(id)?.size ?? 0,
          log: state.logOf.get(id)?.size ?? 0,
          jobs: [...state.jobs.values()].filter(own).length,
          deliveries: [...state.deliveries.values()].filter(own).length,
          deliveriesOf: named(state.deliveriesOf),
          unmatched: [...state.unmatched.values()].flat().filter(({ record }) => own(record)).length,
          endpoints: [...state.endpoints.values()].filter(own).length,
          usage: named(state.usage),
        }
        return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
      },
      async idempotency() {
        return [...state.idempotency.values()].map(({ fingerprint, admitted }) => ({ fingerprint, admitted }))
      },
    },
  }
}
