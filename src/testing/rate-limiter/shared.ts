import assert from 'node:assert/strict'
import type { LimitCheck, RateLimiter } from '../../ports/rate-limiter.ts'
import { Absent, skippable, type TestApi } from '../test-api.ts'
import { MINUTE, PAUSE, type RateLimiterHarness, requests, slots } from './harness.ts'

/** Checks that instances of a limiter in several processes share all counts. */
export function sharedChecks(test: TestApi, create: () => Promise<RateLimiterHarness>): void {
  function check(name: string, run: (first: RateLimiter, second: RateLimiter) => Promise<void>): void {
    skippable(test)(`two instances ${name}`, async () => {
      const { limiter, second } = await create()
      try {
        if (second === null) throw new Absent('The limiter counts for its own process alone.')
        await run(limiter, second)
      } finally {
        await limiter.close()
        await second?.close()
      }
    })
  }

  /** Number of allowed calls of a race through both instances. */
  async function race(
    instances: readonly RateLimiter[],
    calls: number,
    checkOf: (call: number) => LimitCheck,
  ): Promise<number> {
    const decisions = await Promise.all(
      Array.from({ length: calls }, (_, call) => instances[call % 2]?.consume([checkOf(call)])),
    )
    return decisions.filter((decision) => decision?.allowed === true).length
  }

  check('that race grant no more than the limit', async (first, second) => {
    const window = requests({ limit: 50, burst: 50 })
    assert.equal(await race([first, second], 200, () => window), 50)
  })

  check('that race grant no more than the ceiling of a burst', async (first, second) => {
    assert.equal(await race([first, second], 100, () => requests()), 12)
  })

  check('that race give each slot once', async (first, second) => {
    assert.equal(await race([first, second], 200, (call) => slots(String(call), { limit: 5 })), 5)
  })

  check('tell the same of what is left', async (first, second) => {
    await first.consume([requests({ cost: 4 }), slots('a')])
    const { states } = await second.peek([requests(), slots('b')])
    assert.deepEqual(
      states.map(({ remaining }) => remaining),
      [5, 0],
    )
  })

  check('take back what the other counted', async (first, second) => {
    const window = requests({ limit: 5, burst: 5, cost: 5 })
    await first.consume([window])
    await second.refund(window, 2)
    assert.equal((await first.consume([{ ...window, cost: 2 }])).allowed, true)
    assert.equal((await second.consume([{ ...window, cost: 1 }])).allowed, false)
  })

  check('renew and release the slots of the other', async (first, second) => {
    const only = slots('a', { limit: 1 })
    await first.consume([only])
    assert.equal(await second.renew(only.key, 'a', only.leaseMs), true)
    await second.release(only.key, 'a')
    assert.equal((await first.consume([slots('b', { limit: 1 })])).allowed, true)
  })

  check('pause each other', async (first, second) => {
    await first.pause(PAUSE.key, MINUTE)
    assert.equal((await second.consume([PAUSE])).allowed, false)
  })
}
