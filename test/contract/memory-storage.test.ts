import { expect, test } from 'vitest'
import { organizationKind } from '../../src/domain/organization.ts'
import { createState } from '../../src/memory/state.ts'
import { storageOf } from '../../src/memory/storage-of.ts'
import { accept, claim, note } from '../../src/testing/storage/fixtures.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'

storageContract(test, async () => {
  let now = Date.now()
  const state = createState(() => now)
  const storage = storageOf(state)
  await storage.start()
  return {
    storage,
    advance(ms) {
      now += ms
    },
    another: () => storageOf(state),
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
})

test('what is cancelled before its time is not kept until then', async () => {
  let now = 0
  const state = createState(() => now)
  const storage = storageOf(state)
  const [first] = await accept(storage, [note({ sendAt: 1_000 })])
  for (let left = 1_000; left > 0; left -= 1) {
    const [id = ''] = await accept(storage, [note({ sendAt: 2_000 })])
    await storage.notifications.cancel(id)
  }
  const [last] = await accept(storage, [note({ sendAt: 3_000 })])
  expect(state.waiting.size()).toBeLessThan(200)
  for (const [at, id] of [
    [1_000, first],
    [3_000, last],
  ] as const) {
    now = at
    const jobs = await claim(storage)
    expect(jobs.map((job) => job.kind === 'notification' && job.notification.id)).toEqual([id])
  }
})
