import assert from 'node:assert/strict'
import type { Storage } from '../../core/ports/storage/storage.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  idOf,
  LANE,
  LEASE_MS,
  note,
  notes,
  retried,
  returned,
  sent,
  start,
  TEN,
} from './fixtures.ts'
import type { Check } from './harness.ts'

export function leaseChecks(check: Check): void {
  check('starting an attempt counts it', async ({ storage, secondDoor }) => {
    await accept(storage, notes(3))
    const jobs = await claim(storage)
    assert.deepEqual(await start(storage, jobs), [true, true, true])
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ attempts }) => attempts),
      [1, 1, 1],
    )
  })

  check(
    'a stale token starts nothing, renews nothing, releases nothing, settles nothing',
    async (harness) => {
      const { storage, secondDoor } = harness
      const [id = ''] = await accept(storage, [note()])
      const stale = await claimOne(storage)
      await harness.advance(LEASE_MS + 1)
      const fresh = await claimOne(storage)
      assert.notEqual(fresh.token, stale.token)
      assert.deepEqual(await start(storage, [stale]), [false])
      assert.deepEqual(await storage.renew([stale], LEASE_MS), [false])
      await storage.release([stale])
      assert.deepEqual(await storage.settle([ended(stale)]), [{ kind: 'stale' }])
      assert.deepEqual(await storage.settle([retried(stale, 0)]), [{ kind: 'stale' }])
      assert.deepEqual(
        (await secondDoor.jobs()).map(({ state, attempts }) => [state, attempts]),
        [['leased', 0]],
      )
      assert.deepEqual(await secondDoor.events(), [])
      assert.equal((await storage.notifications.get(id))?.status, 'queued')
      assert.deepEqual(await start(storage, [fresh]), [true])
    },
  )

  check('unknown and malformed refs are stale', async ({ storage }) => {
    const refs = [
      { jobId: '123456', token: 1 },
      { jobId: 'nonsense', token: 1 },
    ]
    assert.deepEqual(await start(storage, refs), [false, false])
    assert.deepEqual(await storage.renew(refs, LEASE_MS), [false, false])
    await storage.release(refs)
    assert.deepEqual(
      (await storage.settle(refs.map((ref) => ended(ref)))).map(({ kind }) => kind),
      ['stale', 'stale'],
    )
  })

  check('a set of refs is answered one by one', async ({ storage }) => {
    await accept(storage, notes(2))
    const [first, second] = await claim(storage)
    assert.ok(first !== undefined && second !== undefined)
    const wrong = { ...first, token: first.token + 999 }
    assert.deepEqual(await start(storage, [wrong, second, first]), [false, true, true])
    assert.deepEqual(await storage.renew([second, wrong], LEASE_MS), [true, false])
    const answers = await storage.settle([ended(wrong), ended(first), ended(second)])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['stale', 'settled', 'settled'],
    )
  })

  check('an attempt cannot start after its lease has ended', async (harness) => {
    await accept(harness.storage, [note()])
    const job = await claimOne(harness.storage)
    await harness.advance(LEASE_MS + 1)
    assert.deepEqual(await start(harness.storage, [job]), [false])
  })

  check('an expired lease whose attempt had not started comes back uncounted', async (harness) => {
    const { storage, secondDoor } = harness
    const [id] = await accept(storage, [note()])
    await claimOne(storage)
    assert.deepEqual(await claim(storage), [])
    await harness.advance(LEASE_MS + 1)
    const again = await claimOne(storage)
    assert.deepEqual([idOf(again), again.attempts, again.recovered], [id, 0, false])
    assert.deepEqual(await secondDoor.events(), [])
  })

  check('an expired lease whose attempt had started is counted, recorded and runs alone', async (harness) => {
    const { storage } = harness
    const [id = ''] = await accept(storage, [note(), note()])
    const [lost] = await claim(storage, 1)
    assert.ok(lost !== undefined)
    await start(storage, [lost], 'smtp-2')
    await harness.advance(LEASE_MS + 1)
    const answer = await storage.claim({ lanes: [{ lane: LANE, free: 10 }], leaseMs: LEASE_MS })
    assert.equal(answer.jobs.length, 1)
    assert.ok(!answer.jobs.map(idOf).includes(id))
    assert.deepEqual(answer.recoveredLanes, [LANE])
    assert.ok(!answer.lanes.includes(LANE))
    const [, event] = await storage.notifications.timeline(id)
    assert.deepEqual(
      [event?.type, event?.status, event?.fact?.attempt, event?.fact?.provider, event?.fact?.ambiguous],
      ['attempt_ambiguous', 'queued', 1, 'smtp-2', true],
    )
    assert.deepEqual((await storage.claim({ recovered: ['other'], leaseMs: LEASE_MS })).jobs, [])
    const alone = await storage.claim({ recovered: ['other', LANE], leaseMs: LEASE_MS })
    assert.deepEqual(
      alone.jobs.map((job) => [idOf(job), job.attempts, job.recovered]),
      [[id, 1, true]],
    )
    assert.deepEqual(alone.recoveredLanes, [])
  })

  check('recovered jobs are claimed one at a time, over all lanes', async (harness) => {
    const { storage } = harness
    await loseAttempts(harness, [note(), note({ lane: 'sms/x' }), note()])
    const { recoveredLanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    assert.deepEqual([...recoveredLanes].sort(), [LANE, 'sms/x'].sort())
    for (let left = 3; left > 0; left -= 1) {
      const { jobs } = await storage.claim({ recovered: recoveredLanes, leaseMs: LEASE_MS })
      assert.equal(jobs.length, 1)
      await storage.settle(jobs.map((job) => ended(job)))
    }
    assert.deepEqual((await storage.claim({ recovered: recoveredLanes, leaseMs: LEASE_MS })).jobs, [])
  })

  check('a recovered job is not claimed by its id', async (harness) => {
    await loseAttempts(harness, [note()])
    await harness.storage.claim({ lanes: [], leaseMs: LEASE_MS })
    const ids = (await harness.secondDoor.jobs()).map(({ id }) => id)
    assert.deepEqual((await harness.storage.claim({ ids, leaseMs: LEASE_MS })).jobs, [])
  })

  check('a recovered job stays one when its claim is released or expires', async (harness) => {
    const { storage } = harness
    await loseAttempts(harness, [note()])
    const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
    assert.ok(job?.recovered)
    await storage.release([job])
    assert.deepEqual(await claim(storage), [])
    const [again] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
    assert.deepEqual([again?.attempts, again?.recovered], [1, true])
    await harness.advance(LEASE_MS + 1)
    assert.deepEqual(await claim(storage), [])
    const [third] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
    assert.deepEqual([third?.attempts, third?.recovered], [1, true])
  })

  check('a recovered job that settles for a retry is like any other', async (harness) => {
    const { storage } = harness
    await loseAttempts(harness, [note()])
    await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
    assert.ok(job !== undefined)
    await start(storage, [job])
    await storage.settle([retried(job, 0)])
    const again = await claimOne(storage)
    assert.deepEqual([again.attempts, again.recovered], [2, false])
  })

  check(
    'a recovered job that goes back without a provider call stays one, at once and after a delay',
    async (harness) => {
      const { storage, secondDoor } = harness
      const [id] = await loseAttempts(harness, [note()])
      await storage.claim({ lanes: [], leaseMs: LEASE_MS })
      for (const delayMs of [0, 30_000]) {
        const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
        assert.ok(job?.recovered)
        await storage.settle([returned(job, delayMs)])
        if (delayMs > 0) {
          assert.deepEqual(
            (await secondDoor.jobs()).map(({ state }) => state),
            ['waiting'],
          )
          const early = await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })
          assert.deepEqual([early.jobs, early.recoveredLanes], [[], []])
          assert.ok((early.nextDueInMs ?? 0) > 20_000)
          await harness.advance(delayMs + 1)
        }
        const others = await accept(storage, [note()])
        const answer = await storage.claim({ lanes: [{ lane: LANE, free: 10 }], leaseMs: LEASE_MS })
        assert.deepEqual([answer.jobs.map(idOf), answer.recoveredLanes], [others, [LANE]])
        await storage.settle(answer.jobs.map((other) => ended(other)))
        const ids = (await secondDoor.jobs()).map((stored) => stored.id)
        assert.deepEqual((await storage.claim({ ids, leaseMs: LEASE_MS })).jobs, [])
      }
      const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
      assert.deepEqual([idOf(job), job?.attempts, job?.recovered], [id, 1, true])
    },
  )

  check(
    'a job that goes back without a provider call and was not recovered is like any other',
    async ({ storage }) => {
      await accept(storage, [note()])
      await storage.settle([returned(await claimOne(storage), 0)])
      assert.equal((await claimOne(storage)).recovered, false)
    },
  )

  check(
    'attempts that met an outage are counted apart, and a lost one is not among them',
    async (harness) => {
      const { storage } = harness
      await accept(storage, [note()])
      for (const outage of [true, undefined, true] as const) {
        const job = await claimOne(storage)
        await start(storage, [job])
        await storage.settle([retried(job, 0, outage)])
      }
      const waiting = await claimOne(storage)
      assert.deepEqual([waiting.attempts, waiting.outages], [3, 2])
      await start(storage, [waiting])
      await harness.advance(LEASE_MS + 1)
      await storage.claim({ lanes: [], leaseMs: LEASE_MS })
      const [lost] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
      assert.deepEqual([lost?.attempts, lost?.outages, lost?.recovered], [4, 2, true])
      if (lost !== undefined) await storage.settle([retried(lost, 1_000, true)])
      await harness.advance(1_001)
      const later = await claimOne(storage)
      assert.deepEqual([later.attempts, later.outages], [4, 3])
    },
  )

  check('a message that kills every process is counted each time', async (harness) => {
    const { storage } = harness
    const [id = ''] = await loseAttempts(harness, [note()])
    await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      const [job] = (await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })).jobs
      assert.equal(job?.attempts, attempt - 1)
      await start(storage, job === undefined ? [] : [job])
      await harness.advance(LEASE_MS + 1)
      await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    }
    const attempts = (await storage.notifications.timeline(id)).map(({ fact }) => fact?.attempt)
    assert.deepEqual(attempts, [undefined, 1, 2, 3, 4])
  })

  check('the lost attempt of an event is in its delivery log', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook.id)
    await start(storage, [job], hook.id)
    await harness.advance(LEASE_MS + 1)
    await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    const [delivery] = await secondDoor.deliveries()
    assert.deepEqual([delivery?.state, delivery?.attempts], ['pending', 1])
    const [again] = (await storage.claim({ recovered: [hook.id], leaseMs: LEASE_MS })).jobs
    assert.deepEqual([again?.kind, again?.attempts], ['event', 1])
  })

  check('a renewed lease lasts from the renewal', async (harness) => {
    const { storage } = harness
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    for (let turn = 0; turn < 5; turn += 1) {
      await harness.advance(LEASE_MS / 2)
      assert.deepEqual(await storage.renew([job], LEASE_MS), [true])
      assert.deepEqual(await claim(storage), [])
    }
    assert.deepEqual(
      (await storage.settle([ended(job)])).map(({ kind }) => kind),
      ['settled'],
    )
  })

  check('a lease that ended and was not taken can be renewed and settled', async (harness) => {
    const { storage } = harness
    await accept(storage, notes(2))
    const [first, second] = await claim(storage)
    assert.ok(first !== undefined && second !== undefined)
    await start(storage, [first, second])
    await harness.advance(LEASE_MS + 1)
    assert.deepEqual(await storage.renew([first], LEASE_MS), [true])
    assert.deepEqual(
      (await storage.settle([ended(second)])).map(({ kind }) => kind),
      ['settled'],
    )
    assert.deepEqual(await claim(storage), [])
  })

  check('a released claim is due at once and uncounted', async ({ storage, secondDoor }) => {
    const ids = await accept(storage, notes(2))
    await storage.release(await claim(storage))
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state, attempts }) => [state, attempts]),
      [
        ['ready', 0],
        ['ready', 0],
      ],
    )
    assert.deepEqual((await claim(storage)).map(idOf), ids)
  })

  check('a started attempt is not released', async ({ storage, secondDoor }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.release([job])
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state }) => state),
      ['leased'],
    )
  })

  check('of ten starts and a take-over in a race, none begins under a lost lease', async (harness) => {
    const { storage } = harness
    await accept(storage, [note()])
    const old = await claimOne(storage)
    await harness.advance(LEASE_MS + 1)
    const [fresh] = await Promise.all([claim(storage), ...TEN.map(() => start(storage, [old]))])
    assert.equal(fresh.length, 1)
    assert.deepEqual(await start(storage, [old]), [false])
    assert.equal(fresh[0]?.attempts, 0)
  })

  check('ten releases of one claim in a race return it once', async ({ storage }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await Promise.all(TEN.map(() => storage.release([job])))
    assert.equal((await claim(storage)).length, 1)
    assert.equal(countOf(await storage.renew([job], LEASE_MS), Boolean), 0)
  })

  check('a retry is due after its delay, and keeps its count', async (harness) => {
    const { storage, secondDoor } = harness
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([retried(job, 30_000)])
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state }) => state),
      ['waiting'],
    )
    assert.deepEqual(await claim(storage), [])
    await harness.advance(25_000)
    assert.deepEqual(await claim(storage), [])
    await harness.advance(5_001)
    const again = await claimOne(storage)
    assert.deepEqual([idOf(again), again.attempts, again.recovered], [id, 1, false])
    assert.ok(again.waitedMs < 25_000, `waited ${again.waitedMs}`)
    assert.deepEqual((await storage.settle([ended(again, [sent({ attempt: 2 })])]))[0]?.kind, 'settled')
    assert.deepEqual(await secondDoor.jobs(), [])
  })
}

/** Starts attempts of these notifications and lets their leases expire. */
async function loseAttempts(
  harness: { readonly storage: Storage; advance(ms: number): Promise<void> | void },
  notifications: Parameters<typeof accept>[1],
): Promise<string[]> {
  const { storage } = harness
  const ids = await accept(storage, notifications)
  const lanes = [...new Set(notifications.map(({ lane }) => lane))].map((lane) => ({ lane, free: 100 }))
  await start(storage, (await storage.claim({ lanes, leaseMs: LEASE_MS })).jobs)
  await harness.advance(LEASE_MS + 1)
  return ids
}
