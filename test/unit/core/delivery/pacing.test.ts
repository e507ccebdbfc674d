import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPace } from '../../../../src/core/delivery/pace.ts'
import { createSharedLimits } from '../../../../src/core/delivery/shared-limits.ts'
import { createStop } from '../../../../src/core/delivery/stop.ts'
import type { LimitCheck, LimitDecision } from '../../../../src/core/ports/rate-limiter.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { type NotifierWorld, notifierWorld } from '../../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const SECOND = 1_000

/** A provider with a pace, in several processes that share everything; and when it was called in any of them. */
async function paced(maxPerSecond: number, processes: number, takesMs = 0) {
  const world = notifierWorld()
  const { clock } = world
  const calls: number[] = []
  const notifiers: Notifier[] = []
  const channels: RecordingProvider[] = []
  for (let process = 0; process < processes; process += 1) {
    const channel = recordingProvider({
      maxPerSecond,
      maxConcurrent: 50,
      send: () => {
        calls.push(clock.monotonic())
        const answer = { kind: 'accepted' }
        return takesMs === 0
          ? Promise.resolve(answer)
          : new Promise((end) => clock.timer(takesMs, () => end(answer)))
      },
    })
    channels.push(channel)
    notifiers.push(
      await world.start({
        channels: { email: channel },
        delivery: { pollMs: processes > 1 ? 200 : 3_600_000 },
      }),
    )
  }
  return { ...world, calls, channels, notifiers, notifier: notifiers[0] as Notifier }
}

const gone = () => Promise.reject(new Error('Gone.'))

/** As a limiter answers that is told to go on uncounted while its server is away. */
async function allowing(checks: readonly LimitCheck[]): Promise<LimitDecision> {
  const free = { allowed: true, resetInMs: 0, retryAfterMs: 0 }
  const states = checks.map((check) => {
    const units = check.kind === 'window' ? check.cost : 0
    return { ...free, granted: units, remaining: units }
  })
  return { allowed: true, states }
}

/** The most calls in any `windowMs`. */
function mostIn(calls: readonly number[], windowMs: number): number {
  let most = 0
  for (const [index, from] of calls.entries()) {
    let end = index
    while (end < calls.length && (calls[end] as number) < from + windowMs) end += 1
    most = Math.max(most, end - index)
  }
  return most
}

async function untilAll({ clock }: NotifierWorld, calls: readonly number[], count: number): Promise<number> {
  const began = clock.monotonic()
  await clock.until(() => calls.length >= count, 3_600_000)
  return clock.monotonic() - began
}

describe('a pace', () => {
  it('is kept in every second, and nearly used up', async () => {
    const world = await paced(10, 1)
    await world.notifier.sendBatch(Array.from({ length: 100 }, () => mail))
    const tookMs = await untilAll(world, world.calls, 100)
    expect(mostIn(world.calls, SECOND)).toBe(10)
    // The last ten go after nine full windows.
    expect(tookMs).toBeLessThanOrEqual(9 * 1.06 * SECOND)
  })

  it('is that of all processes together', async () => {
    const world = await paced(10, 3)
    await world.notifier.sendBatch(Array.from({ length: 150 }, () => mail))
    const tookMs = await untilAll(world, world.calls, 150)
    expect(mostIn(world.calls, SECOND)).toBe(10)
    expect(tookMs).toBeLessThanOrEqual(14 * 1.1 * SECOND)
  })

  it('below one a second is one in the time that it makes', async () => {
    const world = await paced(0.5, 2)
    await world.notifier.sendBatch(Array.from({ length: 6 }, () => mail))
    const tookMs = await untilAll(world, world.calls, 6)
    expect(mostIn(world.calls, 2 * SECOND)).toBe(1)
    expect(tookMs).toBeLessThanOrEqual(5 * 2.1 * SECOND)
  })

  it('lets a single message go at once', async () => {
    const world = await paced(1, 1)
    await world.notifier.send(mail)
    expect(await untilAll(world, world.calls, 1)).toBe(0)
  })

  it('leaves what has to wait unclaimed, for any process', async () => {
    const world = await paced(5, 1)
    await world.notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    await world.clock.advance(0)
    expect(world.calls).toHaveLength(5)
    const { jobs } = await world.storage.claim({ lanes: [{ lane: 'email', free: 100 }], leaseMs: 60_000 })
    expect(jobs).toHaveLength(15)
  })

  it('wastes little on what is not there: messages that come one by one go at once while the pace allows', async () => {
    const world = await paced(10, 1)
    for (let message = 0; message < 10; message += 1) {
      await world.notifier.send(mail)
      await world.clock.advance(100)
      expect(world.calls).toHaveLength(message + 1)
    }
  })

  it('holds whatever comes when, from whom, and however long a hand-over takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(0, 30, 700),
        fc.array(
          fc.record({
            after: fc.integer({ min: 0, max: 1_500 }),
            by: fc.nat(2),
            count: fc.integer({ min: 1, max: 25 }),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        async (pace, processes, takesMs, bursts) => {
          const world = await paced(pace, processes, takesMs)
          let sent = 0
          for (const { after, by, count } of bursts) {
            await world.clock.advance(after)
            await world.notifiers[by % processes]?.sendBatch(Array.from({ length: count }, () => mail))
            sent += count
          }
          await untilAll(world, world.calls, sent)
          expect(world.calls).toHaveLength(sent)
          expect(mostIn(world.calls, SECOND)).toBeLessThanOrEqual(pace)
          for (const notifier of world.notifiers) {
            const stopped = notifier.stop({ timeoutMs: 1 })
            await world.clock.advance(5_000)
            await stopped
          }
        },
      ),
      { numRuns: 25 },
    )
  }, 120_000)

  it('holds when the commit before the hand-over takes long', async () => {
    const world = await paced(5, 1)
    const { clock, calls, storage } = world
    const begin = storage.startAttempts
    // Of every other set the first goes slowly, and leaves together with the next.
    let slow = false
    Object.assign(storage, {
      startAttempts: async (refs: Parameters<typeof begin>[0]) => {
        slow = !slow
        if (slow) await new Promise<void>((resolve) => clock.timer(800, resolve))
        return begin(refs)
      },
    })
    await world.notifier.sendBatch(Array.from({ length: 40 }, () => mail))
    await untilAll(world, calls, 40)
    expect(mostIn(calls, SECOND)).toBeLessThanOrEqual(5)
  })

  it.each([
    [60, 0, 0, 12],
    [60, 60, 0, 12],
    // A slow limiter is asked twice for each message.
    [0, 0, 60, 24],
    [400, 100, 100, 40],
  ])(
    'is kept and used where a claim takes %i ms, a commit %i and the limiter %i',
    async (claimMs, commitMs, limitMs, seconds) => {
      const base = notifierWorld()
      const { clock } = base
      const delayed = <Args extends unknown[], Answer>(
        ms: number,
        call: (...args: Args) => Promise<Answer>,
      ) =>
        ms === 0
          ? call
          : async (...args: Args) => {
              await new Promise<void>((resolve) => clock.timer(ms, resolve))
              return call(...args)
            }
      const { storage, limiter } = base
      Object.assign(storage, {
        claim: delayed(claimMs, storage.claim),
        startAttempts: delayed(commitMs, storage.startAttempts),
      })
      Object.assign(limiter, {
        consume: delayed(limitMs, limiter.consume),
        peek: delayed(limitMs, limiter.peek),
      })
      const calls: number[] = []
      const channel = recordingProvider({
        maxPerSecond: 10,
        maxConcurrent: 50,
        send: async () => {
          calls.push(clock.monotonic())
          return { kind: 'accepted' }
        },
      })
      const notifier = await base.start({ channels: { email: channel }, plans: {} })
      const sent = notifier.sendBatch(Array.from({ length: 100 }, () => mail))
      const tookMs = await untilAll(base, calls, 100)
      await sent
      expect(mostIn(calls, SECOND)).toBeLessThanOrEqual(10)
      expect(tookMs).toBeLessThanOrEqual(seconds * SECOND)
    },
  )

  it.each([
    ['at once', [50], 1],
    ['late', [51, 0], 2],
    ['late each time', [51, 51], 2],
  ])('counts a message at its hand-over anew where the limiter answers %s', async (_name, takes, count) => {
    const { clock, limiter } = notifierWorld()
    const errors: unknown[] = []
    let asked = 0
    const slow = {
      ...limiter,
      async consume(checks: readonly LimitCheck[]) {
        const takesMs = takes[asked] ?? 0
        asked += 1
        const answer = await limiter.consume(checks)
        await new Promise<void>((resolve) => clock.timer(takesMs, resolve))
        return answer
      },
    }
    const limits = createSharedLimits(slow, limiter, clock, (error) => void errors.push(error))
    const pace = createPace('a:pace', 10, limits, clock, () => {})
    let passed = false
    void pace.pass(undefined, createStop()).then(() => {
      passed = true
    })
    await clock.until(() => passed)
    expect([asked, errors]).toEqual([count, []])
  })

  it('lets a message that fails over go to the next provider at once', async () => {
    const world = notifierWorld()
    const first = recordingProvider({
      name: 'first',
      send: async () => ({ kind: 'retry', scope: 'provider', message: 'Down.' }),
    })
    const second = recordingProvider({ name: 'second', maxPerSecond: 10 })
    const notifier = await world.start({ channels: { email: [first, second] } })
    for (let message = 1; message <= 3; message += 1) {
      await notifier.send(mail)
      await world.clock.advance(0)
      expect(second.calls).toHaveLength(message)
    }
  })

  it('of one provider leaves the rest to the next', async () => {
    const world = notifierWorld()
    const [first, second] = [
      recordingProvider({ name: 'first', maxPerSecond: 2 }),
      recordingProvider({ name: 'second' }),
    ]
    const notifier = await world.start({ channels: { email: [first, second] } })
    await notifier.sendBatch(Array.from({ length: 12 }, () => mail))
    await world.clock.advance(0)
    expect([first.calls.length, second.calls.length]).toEqual([2, 10])
  })

  it.each<[string, object, unknown[]]>([
    [
      'answers nothing',
      { consume: gone, peek: gone, pause: gone },
      [expect.stringContaining('rate limiter')],
    ],
    ['allows everything', { consume: allowing, peek: allowing, pause: async () => {} }, []],
  ])('is kept by each process alone while the limiter %s', async (_name, away, errors) => {
    const world = notifierWorld()
    const calls: number[] = []
    const channel = recordingProvider({
      maxPerSecond: 5,
      send: async () => {
        calls.push(world.clock.monotonic())
        return { kind: 'accepted' }
      },
    })
    const notifier = await world.start({
      channels: { email: channel },
      rateLimiter: { ...world.limiter, ...away },
      plans: {},
    })
    await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    const tookMs = await untilAll(world, calls, 20)
    expect(mostIn(calls, SECOND)).toBe(5)
    expect(tookMs).toBeLessThanOrEqual(3 * 1.1 * SECOND)
    expect(world.errors.map(({ message }) => message)).toEqual(errors)
  })
})
