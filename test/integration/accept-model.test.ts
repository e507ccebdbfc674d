import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AcceptAnswer, AcceptRequest } from '../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { note, organization, page } from '../../src/testing/storage/fixtures.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { secondDoor } from '../map-storage-contract/second-door.ts'
import { describeBesideReference } from '../support/beside-reference.ts'

const ORGANIZATIONS = ['org_default', 'org_b', 'org_unknown']
const KEYS = ['k1', 'k2']
const PERIODS = ['2026-11', '2026-12']

/** A request, but for the ids, which are new for each run. */
interface Draft {
  readonly organization: number
  readonly size: number
  readonly key: number | null
  readonly operation: 'send' | 'batch'
  readonly fingerprint: string
  readonly ttlMs: number
  readonly quota: { readonly period: number; readonly limit: number } | null
  readonly inMs: number
  /** Takes an id that was given before in place of its first. */
  readonly taken: number | null
}

type Step =
  | { readonly do: 'accept'; readonly requests: readonly Draft[] }
  | { readonly do: 'commit' | 'rollBack'; readonly request: Draft }
  | { readonly do: 'advance'; readonly ms: number }

const draft: fc.Arbitrary<Draft> = fc.record({
  organization: fc.constantFrom(0, 0, 0, 1, 1, 2),
  size: fc.constantFrom(0, 1, 1, 1, 2, 5),
  key: fc.constantFrom(null, null, 0, 1),
  operation: fc.constantFrom('send' as const, 'send' as const, 'batch' as const),
  fingerprint: fc.constantFrom('a', 'b'),
  ttlMs: fc.constantFrom(400, 1_000, 750.5),
  quota: fc.option(fc.record({ period: fc.nat({ max: 1 }), limit: fc.nat({ max: 12 }) })),
  inMs: fc.constantFrom(0, 0, -5, 700),
  taken: fc.option(fc.nat({ max: 30 }), { freq: 8 }),
})

/** Those of one name go in turns: which of the others is processed before the second is undefined. */
function haveOneName(one: Draft, other: Draft): boolean {
  return (
    one.key !== null &&
    one.key === other.key &&
    one.operation === other.operation &&
    one.organization === other.organization
  )
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      requests: fc.uniqueArray(draft, { minLength: 1, maxLength: 5, comparator: haveOneName }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('commit' as const, 'commit' as const, 'rollBack' as const),
      request: draft,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 399, 400, 1_000) }),
  },
)

function requestOf(one: Draft, now: number, ids: string[]): AcceptRequest {
  const sendAt = one.inMs === 0 ? null : now + one.inMs
  const notifications = Array.from({ length: one.size }, () => note({ sendAt }))
  const taken = one.taken === null ? undefined : ids[one.taken % (ids.length || 1)]
  const [first] = notifications
  if (taken !== undefined && first !== undefined) notifications[0] = { ...first, id: taken }
  ids.push(...notifications.map(({ id }) => id))
  const { operation, fingerprint, ttlMs, quota } = one
  const key = one.key === null ? undefined : KEYS[one.key]
  return {
    organizationId: ORGANIZATIONS[one.organization] ?? '',
    notifications,
    ...(key === undefined
      ? {}
      : { idempotency: { organizationId: '', operation, key, fingerprint, result: `${ids.length}`, ttlMs } }),
    ...(quota === null ? {} : { quota: { period: PERIODS[quota.period] ?? '', limit: quota.limit } }),
  }
}

function shown(answer: AcceptAnswer | undefined): unknown {
  return answer?.kind === 'failed' ? { kind: 'failed', code: answer.error.code } : answer
}

async function observe(storage: Storage, ids: readonly string[]): Promise<unknown> {
  const lists = await Promise.all(
    ORGANIZATIONS.map((organizationId) => storage.notifications.list({ organizationId }, page())),
  )
  return {
    notifications: await Promise.all(ids.map((id) => storage.notifications.get(id))),
    lists: lists.map(({ items }) => items.map(({ id }) => id)),
    ...(await observeLimits(storage)),
  }
}

async function observeLimits(storage: Storage): Promise<object> {
  const used = ORGANIZATIONS.flatMap((id) => PERIODS.map((period) => storage.quotaUsed(id, period)))
  const names = ORGANIZATIONS.flatMap((organizationId) =>
    (['send', 'batch'] as const).flatMap((operation) =>
      KEYS.map((key) => ({ organizationId, operation, key })),
    ),
  )
  return { used: await Promise.all(used), records: await storage.findIdempotent(names) }
}

async function jobsOf({
  storage,
  secondDoor,
}: Pick<StorageHarness, 'storage' | 'secondDoor'>): Promise<string[]> {
  // A storage may mark what has become due no sooner than the next claim.
  await storage.claim({ lanes: [], leaseMs: 1_000 })
  const jobs = await secondDoor.jobs()
  return jobs.map(({ lane, organizationId, state }) => [lane, organizationId, state].join(' ')).sort()
}

describeBesideReference({ sqlite: 60, postgres: 15 }, (create, numRuns) => {
  test('accept the same: quotas, idempotency keys, guilty items and transactions', {
    timeout: 240_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        let now = 1_800_000_000_000
        const clock = { now: () => now }
        const other = await create(clock)
        const state = createState(clock)
        const memory = mapStorage(state)
        const ids: string[] = []
        try {
          await memory.start()
          for (const storage of [other.storage, memory]) await organization(storage, 'org_b')
          for (const one of steps) {
            if (one.do === 'advance') {
              now += one.ms
            } else if (one.do === 'accept') {
              const requests = one.requests.map((each) => requestOf(each, now, ids))
              const theirs = await other.storage.accept(requests)
              const ours = await memory.accept(requests)
              expect(theirs.map(shown), JSON.stringify(one)).toEqual(ours.map(shown))
            } else if (one.do === 'commit') {
              const request = requestOf(one.request, now, ids)
              const theirs = await other.transactions?.commit((joined) => joined.accept(request), 'row')
              const [ours] = await memory.accept([request])
              expect(shown(theirs?.answer), JSON.stringify(one)).toEqual(shown(ours))
            } else {
              const request = requestOf({ ...one.request, size: 1 }, now, ids)
              // What is refused on SQLite never calls what would roll it back.
              await other.transactions?.rollBack((joined) => joined.accept(request), 'row').catch(() => {})
            }
            expect(await observeLimits(other.storage), JSON.stringify(one)).toEqual(
              await observeLimits(memory),
            )
          }
          expect(await observe(other.storage, ids)).toEqual(await observe(memory, ids))
          expect(await jobsOf(other)).toEqual(
            await jobsOf({ storage: memory, secondDoor: secondDoor(state) }),
          )
        } finally {
          await other.storage.stop()
          await other.close?.()
        }
      }),
      { numRuns, endOnFailure: true },
    )
  })
})
