import assert from 'node:assert/strict'
import type { LimitCheck, LimitState, WindowCheck } from '../../core/ports/rate-limiter.ts'
import type { TestApi } from '../test-api.ts'
import { checkWith, MINUTE, PAUSE, type RateLimiterHarness, requests, slots } from './harness.ts'
import { referenceWindow } from './reference-window.ts'
import { sharedChecks } from './shared.ts'

export type { RateLimiterHarness } from './harness.ts'

/**
 * The contract of all rate limiters: see docs/tasks/custom-limiter.md.
 *
 * @param create makes an empty limiter for one test
 *
 * @example
 * rateLimiterContract(test, async () => {
 *   let time = Date.now()
 *   const open = () => fileLimiter({ file: 'limits.db', now: () => time })
 *   return { limiter: open(), second: open(), advance: (ms) => void (time += ms) }
 * })
 */
export function rateLimiterContract(test: TestApi, create: () => Promise<RateLimiterHarness>): void {
  const check = checkWith(test, create)

  async function one(harness: RateLimiterHarness, check: WindowCheck): Promise<LimitState> {
    const { states } = await harness.limiter.consume([check])
    return states[0] as LimitState
  }

  check('counts down and tells the rest', async (harness) => {
    const plain = requests({ limit: 3, burst: 3 })
    const remaining = []
    for (let call = 0; call < 3; call += 1) remaining.push((await one(harness, plain)).remaining)
    assert.deepEqual(remaining, [2, 1, 0])
    const refused = await one(harness, plain)
    assert.deepEqual(
      {
        ...refused,
        resetInMs: Math.round(refused.resetInMs),
        retryAfterMs: Math.round(refused.retryAfterMs),
      },
      { allowed: false, granted: 0, remaining: 0, resetInMs: MINUTE, retryAfterMs: MINUTE },
    )
  })

  check('says when more will remain: when the oldest of what counts expires', async (harness) => {
    const plain = requests({ limit: 3, burst: 3 })
    const resets = []
    for (const passed of [0, 20_000, 20_000]) {
      await harness.advance(passed)
      resets.push(Math.round((await one(harness, plain)).resetInMs / 1000))
    }
    assert.deepEqual(resets, [60, 40, 20])
    await harness.advance(20_000)
    assert.equal((await one(harness, plain)).allowed, true)
  })

  check('lets a burst go to its ceiling, and no second one before the window has passed', async (harness) => {
    for (let call = 0; call < 12; call += 1)
      assert.equal((await one(harness, requests())).allowed, true, `call ${call}`)
    assert.equal((await one(harness, requests())).allowed, false)
    await harness.advance(MINUTE)
    for (let call = 0; call < 12; call += 1)
      assert.equal((await one(harness, requests())).allowed, true, `call ${call} of the next window`)
  })

  check('ends a burst after its episode', async (harness) => {
    for (let call = 0; call < 11; call += 1) await one(harness, requests())
    await harness.advance(10_000)
    assert.equal((await one(harness, requests())).allowed, false)
  })

  check('counts nothing of a refused call, of any of its checks', async (harness) => {
    const roomy = requests({ key: 'org_a:roomy', limit: 100, burst: 100 })
    const full = requests({ limit: 1, burst: 1 })
    await one(harness, full)
    const { allowed, states } = await harness.limiter.consume([roomy, full])
    assert.equal(allowed, false)
    assert.deepEqual(
      states.map((state) => [state.allowed, state.granted]),
      [
        [true, 0],
        [false, 0],
      ],
    )
    assert.equal(states[0]?.remaining, 100)
    assert.equal((await one(harness, roomy)).remaining, 99)
  })

  check('counts nothing of a refused call, by any kind of check', async (harness) => {
    const { limiter } = harness
    const [full, roomy] = [requests({ limit: 1, burst: 1 }), requests({ key: 'org_a:roomy' })]
    const part = requests({ key: 'org_a:part', limit: 5, burst: 5, cost: 3, partial: true })
    const only = slots('a', { limit: 1 })
    await one(harness, full)
    await limiter.pause('org_a:account', MINUTE)
    for (const checks of [
      [only, part, full],
      [full, part, only],
      [only, part, roomy, PAUSE],
      [PAUSE, roomy, part, only],
    ]) {
      assert.equal((await limiter.consume(checks)).allowed, false)
    }
    assert.equal((await limiter.consume([slots('b', { limit: 1 })])).allowed, true, 'the slot was taken')
    assert.equal((await limiter.consume([roomy, part, only])).allowed, false)
    assert.equal((await one(harness, roomy)).remaining, 9)
    assert.equal((await one(harness, part)).granted, 3)
  })

  check('peeks at slots and pauses without taking or ending any', async ({ limiter }) => {
    const judged = async (check: LimitCheck): Promise<boolean> => (await limiter.peek([check])).allowed
    assert.deepEqual([await judged(slots('a', { limit: 1 })), await judged(PAUSE)], [true, true])
    assert.equal((await limiter.consume([slots('b', { limit: 1 })])).allowed, true, 'the slot was taken')
    await limiter.pause('org_a:account', MINUTE)
    assert.deepEqual([await judged(slots('a', { limit: 1 })), await judged(PAUSE)], [false, false])
  })

  check(
    'says how many slots are left, and when a refused one may try again',
    async ({ limiter, advance }) => {
      const take = async (token: string): Promise<LimitState> =>
        (await limiter.consume([slots(token)])).states[0] as LimitState
      assert.deepEqual([(await take('a')).remaining, (await take('b')).remaining], [1, 0])
      const { allowed, remaining, retryAfterMs } = await take('c')
      assert.deepEqual([allowed, remaining], [false, 0])
      assert.ok(retryAfterMs > 0 && retryAfterMs <= 30_000, `the hint is ${retryAfterMs}`)
      await advance(retryAfterMs)
      assert.equal((await take('c')).allowed, true, 'waiting for the hint is enough')
    },
  )

  check('says when what is used comes back', async (harness) => {
    assert.equal((await harness.limiter.peek([requests({ cost: 10 })])).states[0]?.allowed, true)
    assert.equal(Math.round((await one(harness, requests())).resetInMs), MINUTE)
    await harness.advance(20_000)
    assert.equal(Math.round((await one(harness, requests())).resetInMs), 40_000)
  })

  check('peeks without counting', async (harness) => {
    const before = await harness.limiter.peek([requests()])
    assert.deepEqual(await harness.limiter.peek([requests()]), before)
    const counted = await one(harness, requests())
    assert.deepEqual([counted.granted, counted.remaining], [1, 9])
    assert.deepEqual([before.states[0]?.granted, before.states[0]?.remaining], [1, 9])
  })

  check('takes several units at once, all or none', async (harness) => {
    const five = requests({ burst: 10, cost: 5 })
    assert.equal((await one(harness, { ...five, cost: 8 })).allowed, true)
    assert.equal((await one(harness, five)).allowed, false)
    assert.equal((await one(harness, { ...five, cost: 2 })).remaining, 0)
    const never = await one(harness, { ...five, cost: 11 })
    assert.equal(never.retryAfterMs, Number.POSITIVE_INFINITY)
  })

  check('takes as many units as there are when part of them is asked for', async (harness) => {
    const part = requests({ burst: 10, cost: 7, partial: true })
    assert.equal((await one(harness, part)).granted, 7)
    assert.equal((await one(harness, part)).granted, 3)
    const none = await one(harness, part)
    assert.deepEqual([none.allowed, none.granted, Math.round(none.retryAfterMs)], [false, 0, MINUTE])
  })

  check('takes units back that were not used', async (harness) => {
    const { limiter, advance } = harness
    const plain = requests({ limit: 10, burst: 10, cost: 4 })
    const left = async () => (await limiter.peek([{ ...plain, cost: 1, partial: true }])).states[0]?.remaining
    await limiter.refund(plain, 3)
    assert.equal(await left(), 9, 'nothing was counted, so nothing comes back')
    await one(harness, plain)
    await advance(20_000)
    await one(harness, plain)
    await limiter.refund(plain, 3)
    assert.equal(await left(), 4, 'three of eight are back')
    await limiter.refund(requests({ ...plain, key: 'org_b:requests' }), 5)
    assert.equal(await left(), 4, 'keys are apart')
    await advance(40_000)
    assert.equal(await left(), 8, 'the youngest came back: four have run out, one counts')
    await limiter.refund(plain, 5)
    assert.equal(await left(), 9, 'no more than count come back')
    assert.equal((await one(harness, { ...plain, cost: 10 })).allowed, true)
    assert.equal((await one(harness, { ...plain, cost: 1 })).allowed, false)
  })

  check('keeps keys apart', async (harness) => {
    const only = { limit: 1, burst: 1 }
    assert.equal((await one(harness, requests(only))).allowed, true)
    assert.equal((await one(harness, requests({ ...only, key: 'org_b:requests' }))).allowed, true)
    assert.equal((await one(harness, requests(only))).allowed, false)
    const { limiter } = harness
    assert.equal((await limiter.consume([slots('a', { limit: 1 })])).allowed, true)
    const other = slots('a', { limit: 1, key: 'org_b:slots' })
    assert.equal((await limiter.consume([other])).allowed, true)
    await limiter.release('org_b:slots', 'a')
    assert.equal((await limiter.consume([slots('b', { limit: 1 })])).allowed, false)
    await limiter.pause('org_b:account', MINUTE)
    assert.equal((await limiter.consume([PAUSE])).allowed, true)
  })

  check('gives the last unit of a race to one', async (harness) => {
    const last = requests({ limit: 7, burst: 7 })
    const answers = await Promise.all(Array.from({ length: 200 }, () => harness.limiter.consume([last])))
    assert.equal(answers.filter(({ allowed }) => allowed).length, 7)
  })

  check('hands out slots, takes them back, and takes back those whose holder is silent', async (harness) => {
    const { limiter } = harness
    const slot = (token: string) => limiter.consume([slots(token)])
    assert.equal((await slot('a')).allowed, true)
    assert.equal((await slot('b')).allowed, true)
    assert.equal((await slot('c')).allowed, false)
    await limiter.release('org_a:slots', 'a')
    await limiter.release('org_a:slots', 'a')
    assert.equal((await slot('c')).allowed, true)
    assert.equal((await slot('d')).allowed, false)
    await harness.advance(20_000)
    assert.equal(await limiter.renew('org_a:slots', 'b', 30_000), true)
    await harness.advance(15_000)
    assert.equal(await limiter.renew('org_a:slots', 'c', 30_000), false)
    assert.equal((await slot('d')).allowed, true)
    assert.equal((await slot('e')).allowed, false)
  })

  check('gives slots in a race to as many as there are', async ({ limiter }) => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => limiter.consume([slots(String(index), { limit: 5 })])),
    )
    assert.equal(answers.filter(({ allowed }) => allowed).length, 5)
  })

  check('pauses a key for as long as the longest pause says', async (harness) => {
    const { limiter } = harness
    const paused = async () => !(await limiter.consume([PAUSE])).allowed
    assert.equal(await paused(), false)
    await limiter.pause('org_a:account', 5_000)
    await limiter.pause('org_a:account', 1_000)
    const [state] = (await limiter.consume([PAUSE])).states
    assert.equal(Math.round(state?.retryAfterMs ?? 0), 5_000)
    await harness.advance(4_999)
    assert.equal(await paused(), true)
    await harness.advance(1)
    assert.equal(await paused(), false)
  })

  sharedChecks(check)

  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    check(`decides, trace ${seed}, as a list of all that was ever counted would`, async (harness) => {
      await followTrace(harness, seed)
    })
  }
}

async function followTrace({ limiter, advance }: RateLimiterHarness, seed: number): Promise<void> {
  const random = pseudoRandom(seed)
  const limit = 1 + Math.floor(random() * 30)
  const model = referenceWindow()
  let now = 0
  let hint = 0
  for (let step = 0; step < 600; step += 1) {
    const cost = random() < 0.8 ? 1 : 1 + Math.floor(random() * 4)
    const wait = nextWait(random, hint)
    await advance(wait)
    now += wait
    const check = requests({ limit, burst: Math.floor(limit * 1.2), cost })
    const { states } = await limiter.consume([check])
    const { allowed, retryAfterMs } = states[0] as LimitState
    assert.equal(allowed, model.consume(check, now), `step ${step} at ${now} ms`)
    hint = Number.isFinite(retryAfterMs) ? retryAfterMs : 0
    if (random() < 0.1) {
      const units = 1 + Math.floor(random() * limit)
      await limiter.refund(check, units)
      model.refund(check, units, now)
      continue
    }
    if (hint === 0) continue
    assert.equal(model.allows(check, now + retryAfterMs), true, 'waiting for Retry-After is enough')
    assert.equal(model.allows(check, now + retryAfterMs - 1), false, 'a millisecond less is not')
  }
}

/** Mostly short waits, and often one to the exact end of an episode or window, where mistakes happen. */
function nextWait(random: () => number, hint: number): number {
  const dice = random()
  if (dice < 0.55) return Math.floor(random() * 300)
  if (dice < 0.7) return Math.floor(random() * 15_000)
  if (dice < 0.8) return 10_000
  if (dice < 0.85) return MINUTE
  return Math.max(0, hint - (dice < 0.9 ? 1 : 0))
}

/** A seeded generator, so that the contract is deterministic. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
