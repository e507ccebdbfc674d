import assert from 'node:assert/strict'
import type { LimitCheck, RateLimiter } from '../../core/ports/rate-limiter.ts'
import { Absent } from '../test-api.ts'
import { type Check, MINUTE, PAUSE, requests, slots } from './harness.ts'

/** Checks that instances of a limiter in several processes share all counts. */
export function sharedChecks(check: Check): void {
  function checkTwo(name: string, run: (first: RateLimiter, second: RateLimiter) => Promise<void>): void {
    check(`two instances ${name}`, async ({ limiter, second }) => {
      if (second === null) throw new Absent('The limiter counts for its own process alone.')
      await run(limiter, second)
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

  checkTwo('that race grant no more than the limit', async (first, second) => {
    const window = requests({ limit: 50, burst: 50 })
    assert.equal(await race([first, second], 200, () => window), 50)
  })

  checkTwo('that race grant no more than the ceiling of a burst', async (first, second) => {
    assert.equal(await race([first, second], 100, () => requests()), 12)
  })

  checkTwo('that race give each slot once', async (first, second) => {
    assert.equal(await race([first, second], 200, (call) => slots(String(call), { limit: 5 })), 5)
  })

  checkTwo('tell the same rest', async (first, second) => {
    await first.consume([requests({ cost: 4 }), slots('a')])
    const { states } = await second.peek([requests(), slots('b')])
    assert.deepEqual(
      states.map(({ remaining }) => remaining),
      [5, 0],
    )
  })

  checkTwo('take back units that the other counted', async (first, second) => {
    const window = requests({ limit: 5, burst: 5, cost: 5 })
    await first.consume([window])
    await second.refund(window, 2)
    assert.equal((await first.consume([{ ...window, cost: 2 }])).allowed, true)
    assert.equal((await second.consume([{ ...window, cost: 1 }])).allowed, false)
  })

  checkTwo('renew and release the slots of the other', async (first, second) => {
    const only = slots('a', { limit: 1 })
    await first.consume([only])
    assert.equal(await second.renew(only.key, 'a', only.leaseMs), true)
    await second.release(only.key, 'a')
    assert.equal((await first.consume([slots('b', { limit: 1 })])).allowed, true)
  })

  checkTwo('pause each other', async (first, second) => {
    await first.pause(PAUSE.key, MINUTE)
    assert.equal((await second.consume([PAUSE])).allowed, false)
  })
}
