import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createChoose } from '../../../../src/core/delivery/choose.ts'
import type { ProviderState } from '../../../../src/core/delivery/provider-state.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { type NotifierWorld, notifierWorld } from '../../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

const stateOf = (name: string): ProviderState => ({ provider: { name } }) as ProviderState

const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 })

it('takes the first where there are no weights', () => {
  const choose = createChoose(null)
  expect(choose([stateOf('b'), stateOf('a')]).provider.name).toBe('b')
})

it('gives each its share in every round of all weights, and never strays by more than one round from it', () => {
  void fc.assert(
    fc.property(weights, fc.integer({ min: 1, max: 500 }), (numbers, count) => {
      const states = numbers.map((_weight, index) => stateOf(`p${index}`))
      const choose = createChoose(new Map(numbers.map((weight, index) => [`p${index}`, weight])))
      const total = numbers.reduce((sum, weight) => sum + weight, 0)
      const taken = new Map<string, number>()
      for (let number = 1; number <= count; number += 1) {
        const { name } = choose(states).provider
        taken.set(name, (taken.get(name) ?? 0) + 1)
        for (const [index, weight] of numbers.entries()) {
          const share = (number * weight) / total
          const strays = Math.abs((taken.get(`p${index}`) ?? 0) - share)
          expect(strays).toBeLessThan(numbers.length)
          if (number % total === 0) expect(strays).toBe(0)
        }
      }
    }),
  )
})

it('divides among those that are left by their weights, and takes one back without a flood', () => {
  void fc.assert(
    fc.property(weights, fc.nat(50), fc.nat(5), (numbers, before, which) => {
      const states = numbers.map((_weight, index) => stateOf(`p${index}`))
      const away = states[which % states.length]
      const left = states.filter((state) => state !== away)
      if (left.length === 0) return
      const choose = createChoose(new Map(numbers.map((weight, index) => [`p${index}`, weight])))
      const total = numbers.reduce((sum, weight) => sum + weight, 0)
      const leftTotal = total - (numbers[which % states.length] as number)
      // What each has been given less than its share, or more, when one goes.
      const owed = numbers.map((weight) => (before * weight) / total)
      for (let number = 0; number < before; number += 1) {
        const index = states.indexOf(choose(states))
        owed[index] = (owed[index] as number) - 1
      }
      const rounds = (count: number): number[] => {
        const taken = numbers.map(() => 0)
        for (let number = 0; number < count * leftTotal; number += 1) {
          const index = states.indexOf(choose(left))
          taken[index] = (taken[index] as number) + 1
        }
        return taken
      }
      const first = rounds(10)
      const then = rounds(10)
      for (const [index, weight] of numbers.entries()) {
        const gone = states[index] === away
        expect(then[index]).toBe(gone ? 0 : 10 * weight)
        if (gone) continue
        // That is settled first, and in the rounds of those that are left, which may be far smaller.
        const open = Math.abs(owed[index] as number) + Math.abs(owed[which % states.length] as number)
        const strays = Math.abs((first[index] as number) - 10 * weight)
        expect(strays).toBeLessThan(numbers.length + (open * total) / leftTotal)
      }
      let back = 0
      for (let number = 0; number < total; number += 1) if (choose(states) === away) back += 1
      expect(Math.abs(back - (numbers[which % states.length] as number))).toBeLessThan(numbers.length)
    }),
  )
})

interface Weighted extends NotifierWorld {
  readonly notifier: Notifier
  readonly twilio: RecordingProvider
  readonly vonage: RecordingProvider
  /** How many of the next `count` messages each gets. */
  shares(count: number): Promise<number[]>
}

async function weighted(options: Parameters<typeof recordingProvider>[0] = {}): Promise<Weighted> {
  const world = notifierWorld()
  const twilio = recordingProvider({ maxConcurrent: 1_000, ...options, name: 'twilio' })
  const vonage = recordingProvider({ maxConcurrent: 1_000, ...options, name: 'vonage' })
  const notifier = await world.start({
    channels: {
      email: {
        providers: [twilio, vonage],
        distribution: 'weighted',
        weights: { twilio: 3, vonage: 1 },
      },
    },
  })
  return {
    ...world,
    notifier,
    twilio,
    vonage,
    async shares(count) {
      const before = [twilio.calls.length, vonage.calls.length]
      await notifier.sendBatch(Array.from({ length: count }, () => mail))
      await world.clock.advance(0)
      return [twilio.calls.length, vonage.calls.length].map(
        (calls, index) => calls - (before[index] as number),
      )
    },
  }
}

const suspended = async () => ({
  kind: 'retry',
  code: 'provider_suspended',
  scope: 'account',
  retryAfterMs: 60_000,
})

it('shares the messages of a channel by weight', async () => {
  const { shares } = await weighted()
  expect(await shares(400)).toEqual([300, 100])
})

it('gives the share of one that rests to the others, and back after its rest', async () => {
  const { shares, twilio, clock } = await weighted()
  twilio.behave(suspended)
  // All of its share have met the fault together, and have gone over.
  expect(await shares(40)).toEqual([30, 40])
  expect(await shares(40)).toEqual([0, 40])
  twilio.behave(async () => ({ kind: 'accepted' }))
  await clock.advance(61_000)
  // One message of its share tries it.
  await shares(4)
  await clock.advance(1_000)
  expect(await shares(400)).toEqual([300, 100])
})

it('fails over to the others', async () => {
  const { notifier, twilio, ended, history } = await weighted()
  twilio.behave(suspended)
  const { id } = await notifier.send(mail)
  expect(await ended(notifier, id)).toBe('sent')
  expect(await history(notifier, id)).toEqual(['queued', 'attempt_failed: provider_suspended', 'sent'])
})

it('asks only those that reach the recipient', async () => {
  const world = notifierWorld()
  const [a, b] = [
    recordingProvider({ name: 'a', accepts: (to) => to.startsWith('a') }),
    recordingProvider({ name: 'b' }),
  ]
  const notifier = await world.start({
    channels: { email: { providers: [a, b], distribution: 'weighted', weights: { a: 1, b: 1 } } },
  })
  await notifier.sendBatch(Array.from({ length: 6 }, () => ({ ...mail, to: 'bob@example.com' })))
  await world.clock.advance(0)
  expect([a.calls.length, b.calls.length]).toEqual([0, 6])
})

it('tries what is ambiguous with the same provider again, in this process and in another', async () => {
  const world = notifierWorld()
  const calls: string[] = []
  const start = async (process: string) => {
    const providers = ['a', 'b', 'c'].map((name) =>
      recordingProvider({
        name,
        retry: { kind: 'schedule', delaysMs: [1_000, 1_000, 1_000, 1_000], jitter: 0.9 },
        send: async (_message, { notificationId }) => {
          calls.push(`${notificationId} ${process}`)
          named.set(notificationId, (named.get(notificationId) ?? new Set()).add(name))
          return { kind: 'ambiguous', reason: 'broken' }
        },
      }),
    )
    return world.start({
      channels: { email: { providers, distribution: 'weighted', weights: { a: 3, b: 2, c: 1 } } },
      delivery: { pollMs: 300 },
    })
  }
  const named = new Map<string, Set<string>>()
  // The storage outlives the first process.
  Object.assign(world.storage, { stop: async () => {} })
  const one = await start('one')
  const { items } = await one.sendBatch(Array.from({ length: 30 }, () => mail))
  await world.clock.until(() => calls.length >= 30)
  await world.clock.advance(0)
  await one.stop()
  const two = await start('two')
  for (const item of items) expect(await world.ended(two, 'id' in item ? item.id : '')).toBe('failed')
  expect(calls).toHaveLength(30 * 5)
  expect([...named.values()].map((names) => names.size)).toEqual(Array.from({ length: 30 }, () => 1))
  // It is worth nothing unless both processes had every message in turn.
  expect(new Set(calls).size).toBe(60)
})

it('tries with the same provider again what is ambiguous since another process tried it in between', async () => {
  const world = notifierWorld()
  const asked: string[] = []
  let turn = 'one'
  const start = (process: string) => {
    const providers = ['a', 'b'].map((name) =>
      recordingProvider({
        name,
        // Only there is the first one at hand.
        accepts: () => process === 'one' || name === 'b',
        retry: { kind: 'schedule', delaysMs: [1_000, 1_000], jitter: 0 },
        async send(_message, { attempt }) {
          asked.push(`${process}: ${name}`)
          if (attempt === 1) return { kind: 'retry', scope: 'recipient', code: 'provider_error' }
          return attempt === 2 ? { kind: 'ambiguous', reason: 'broken' } : { kind: 'accepted' }
        },
      }),
    )
    const { storage } = world
    const claim: typeof storage.claim = (request) =>
      storage.claim(turn === process ? request : { ...request, lanes: [] })
    return world.start({
      storage: { ...storage, claim },
      channels: { email: providers },
      delivery: { pollMs: 100 },
    })
  }
  const one = await start('one')
  await start('two')
  const { id } = await one.send(mail)
  await world.clock.advance(500)
  turn = 'two'
  await world.clock.advance(1_000)
  turn = 'one'
  expect(await world.ended(one, id)).toBe('sent')
  expect(asked).toEqual(['one: a', 'two: b', 'one: b'])
})

it('tries with the same provider again what was ambiguous before a stop that let nobody be asked', async () => {
  const world = notifierWorld()
  const { clock, storage } = world
  const asked: string[] = []
  let beginsIn = 0
  const startAttempts: typeof storage.startAttempts = async (refs) => {
    const begun = await storage.startAttempts(refs)
    await new Promise<void>((resolve) => clock.timer(beginsIn, resolve))
    return begun
  }
  const start = (process: string) => {
    const providers = ['a', 'b'].map((name) =>
      recordingProvider({
        name,
        accepts: () => process === 'two' || name === 'b',
        retry: { kind: 'schedule', delaysMs: [1_000, 1_000], jitter: 0 },
        async send() {
          asked.push(`${process}: ${name}`)
          return process === 'one' ? { kind: 'ambiguous', reason: 'broken' } : { kind: 'accepted' }
        },
      }),
    )
    return world.start({ storage: { ...storage, startAttempts }, channels: { email: providers } })
  }
  const one = await start('one')
  const { id } = await one.send(mail)
  await clock.advance(100)
  beginsIn = 500
  await clock.advance(1_000)
  const stopped = one.stop({ timeoutMs: 1 })
  await clock.advance(5_000)
  await stopped
  beginsIn = 0
  const two = await start('two')
  expect(await world.ended(two, id)).toBe('sent')
  expect(asked).toEqual(['one: b', 'two: b'])
})
