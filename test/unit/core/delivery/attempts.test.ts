import { describe, expect, it } from 'vitest'
import { createAttempts } from '../../../../src/core/delivery/attempts.ts'
import { createLeases } from '../../../../src/core/delivery/leases.ts'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { systemClock } from '../../../../src/core/loop/system-clock.ts'
import { measureFact } from '../../../../src/core/observe/metric-definitions.ts'
import { observedStorage } from '../../../../src/core/observe/observed-storage.ts'
import type { ClaimedJob, StartRef } from '../../../../src/core/ports/storage/claim.ts'
import type { SettleAnswer, Settlement } from '../../../../src/core/ports/storage/settle.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import {
  accept,
  claimOne,
  ended,
  LANE,
  LEASE_MS,
  note,
  returned,
  start,
} from '../../../../src/testing/storage/fixtures.ts'
import { job } from '../../../support/dispatcher-world.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { observation } from '../../../support/observation.ts'

function attemptsThatAnswer(answer: SettleAnswer) {
  const storage = { ...inMemory(), settle: async () => [answer] }
  const clock = systemClock()
  const failures: unknown[] = []
  const emitted: unknown[] = []
  const attempts = createAttempts({
    storage,
    clock,
    leases: createLeases(storage, clock, 60_000, () => {}),
    ...observation(),
    emit: (event) => emitted.push(event),
    onRetry() {},
    onError: (error) => failures.push(error),
  })
  return { attempts, failures, emitted }
}

it('reports an outcome that the storage could not record', async () => {
  const error = new NotifierError('internal_server_error')
  const { attempts, failures, emitted } = attemptsThatAnswer({ kind: 'failed', error })
  await attempts.settle(job('1'), { facts: [], next: { kind: 'end' } })
  expect(failures).toEqual([error])
  expect(emitted).toEqual([])
})

it('says nothing of a job that is another’s now', async () => {
  const { attempts, failures, emitted } = attemptsThatAnswer({ kind: 'stale' })
  await attempts.settle(job('1'), { facts: [], next: { kind: 'end' } })
  expect([failures, emitted]).toEqual([[], []])
})

describe('an attempt whose beginning could not be recorded', () => {
  /** One claimed job, and a storage whose `startAttempts` ends as told. */
  async function claimed(start: (storage: Storage, refs: readonly StartRef[]) => Promise<boolean[]>) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    await storage.start()
    await accept(storage, [note()])
    const job = await claimOne(storage)
    const failures: unknown[] = []
    const away = { count: 0 }
    const attempts = createAttempts({
      storage: {
        ...storage,
        startAttempts: (refs) => start(storage, refs),
        async release(refs) {
          away.count -= 1
          if (away.count >= 0) throw new NotifierError('service_unavailable')
          await storage.release(refs)
        },
      },
      clock,
      leases: createLeases(storage, clock, LEASE_MS, () => {}),
      ...observation(),
      emit() {},
      onRetry() {},
      onError: (error) => failures.push(error),
    })
    const begun: boolean[] = []
    const run = attempts.run(job, async () => {
      begun.push(await attempts.begin(job, 'smtp'))
    })
    const due = async () => (await storage.claim({ lanes: [], leaseMs: LEASE_MS })).lanes.length
    return { clock, storage, run, begun, failures, away, due }
  }

  it('is not made, and its job goes back at once when nothing was recorded', async () => {
    const { run, begun, failures, due } = await claimed(async () => {
      throw new NotifierError('service_unavailable')
    })
    await run
    expect([begun, failures.length]).toEqual([[false], 1])
    expect(await due()).toBe(1)
  })

  it('is reported once for all that began with it, and returned with them', async () => {
    const returned: number[] = []
    const failures: unknown[] = []
    const storage: Storage = {
      ...inMemory(),
      startAttempts: () => Promise.reject(new NotifierError('service_unavailable')),
      release: async (refs) => void returned.push(refs.length),
    }
    const clock = systemClock()
    const attempts = createAttempts({
      storage,
      clock,
      leases: createLeases(storage, clock, LEASE_MS, () => {}),
      ...observation(),
      emit() {},
      onRetry() {},
      onError: (error) => failures.push(error),
    })
    const begun = ['2', '4', '6'].map((jobId) => attempts.begin(job(jobId), 'smtp'))
    expect(await Promise.all(begun)).toEqual([false, false, false])
    expect([failures.length, returned]).toEqual([1, [3]])
  })

  it('goes back when the storage answers again', async () => {
    const { clock, run, begun, away, due } = await claimed(async () => {
      throw new NotifierError('service_unavailable')
    })
    away.count = 3
    await clock.until(() => begun.length === 1)
    await run
    expect(clock.monotonic()).toBeGreaterThan(0)
    expect(await due()).toBe(1)
  })

  it('stays with its lease when it was recorded after all: then nobody may run it as if it had not begun', async () => {
    const { clock, storage, run, begun, due } = await claimed(async (storage, refs) => {
      await storage.startAttempts(refs)
      throw new NotifierError('service_unavailable')
    })
    await run
    expect(begun).toEqual([false])
    expect(await due()).toBe(0)
    await clock.advance(LEASE_MS + 1)
    const { recoveredLanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    expect(recoveredLanes).toEqual([LANE])
  })
})

/** A job whose attempt has ended with its process, and what counts those that are taken over. */
async function takenOver() {
  const clock = fakeClock()
  const { facts, ...observation_ } = observation()
  const storage = observedStorage(inMemory(clock), { ...observation_, clock })
  await storage.start()
  const attempts = createAttempts({
    storage,
    clock,
    leases: createLeases(storage, clock, LEASE_MS, () => {}),
    ...observation_,
    emit() {},
    onRetry() {},
    onError(error) {
      throw error
    },
  })
  await accept(storage, [note()])
  await start(storage, [await claimOne(storage)])
  await clock.advance(LEASE_MS + 1)
  async function recover(): Promise<ClaimedJob> {
    await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
    if (job === undefined) throw new Error('no recovered job')
    return job
  }
  function count(): number {
    let count = 0
    for (const fact of facts) {
      measureFact(fact, (metric, value, labels) => {
        if (metric !== 'recovered') return
        count += value
        expect(labels).toEqual([LANE])
      })
    }
    return count
  }
  return { attempts, storage, recover, count }
}

it('counts a job that was taken over once, however often it goes back before anybody can be asked', async () => {
  const { attempts, storage, recover, count } = await takenOver()
  async function takeOver(end: (job: ClaimedJob) => Settlement): Promise<number> {
    const job = await recover()
    await attempts.run(job, () => attempts.settle(job, end(job)))
    return count()
  }
  expect(await takeOver((job) => returned(job, 0))).toBe(0)
  expect(await takeOver((job) => returned(job, 0))).toBe(0)
  expect(await takeOver((job) => ({ ...ended(job), next: { kind: 'retry', delayMs: 0 } }))).toBe(1)
  const again = await claimOne(storage)
  await attempts.run(again, () => attempts.settle(again, ended(again)))
  expect(count()).toBe(1)
})

it('renews no lease after the end, not even where a renewal was under way', async () => {
  const clock = fakeClock()
  let renewals = 0
  let answer = (): void => {}
  const storage: Storage = {
    ...inMemory(clock),
    renew(refs) {
      renewals += 1
      return new Promise((resolve) => (answer = () => resolve(refs.map(() => true))))
    },
  }
  const leases = createLeases(storage, clock, LEASE_MS, () => {})
  leases.hold({ jobId: '1', token: 1 }, () => {})
  await clock.until(() => renewals === 1)
  leases.close()
  answer()
  await clock.advance(10 * LEASE_MS)
  expect(renewals).toBe(1)
})
