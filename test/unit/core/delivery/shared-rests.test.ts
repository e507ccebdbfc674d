import { expect, it } from 'vitest'
import type { Notifier } from '../../../../src/notifier.ts'
import { type Behaviour, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const MINUTE = 60_000
const accepted: Behaviour = async () => ({ kind: 'accepted' })
const busy: Behaviour = async () => ({
  kind: 'retry',
  code: 'provider_rate_limited',
  scope: 'account',
  message: 'Too many.',
  retryAfterMs: 5 * MINUTE,
})

/** Several processes with the same provider, and when it was called in any of them. */
async function processes(count: number, behaviour: Behaviour, delivery: object = {}) {
  const world = notifierWorld()
  const calls: number[] = []
  const heard: string[] = []
  const parts = { behaviour }
  const notifiers: Notifier[] = []
  for (let process = 0; process < count; process += 1) {
    const channel = recordingProvider({
      maxConcurrent: 3,
      send(message, context) {
        calls.push(world.clock.monotonic())
        return parts.behaviour(message, context)
      },
    })
    const notifier = await world.start({
      channels: { email: channel },
      delivery: { pollMs: 5_000, ...delivery },
    })
    notifier.on(
      'provider.paused',
      ({ event, data }) => void heard.push(`${event} ${data.code} ${data.forMs}`),
    )
    notifier.on('provider.resumed', ({ event }) => void heard.push(event))
    notifiers.push(notifier)
  }
  const queue = (messages: number) => notifiers[0]?.sendBatch(Array.from({ length: messages }, () => mail))
  const states = async () =>
    (await Promise.all(notifiers.map((notifier) => notifier.health()))).flatMap(({ providers }) =>
      providers.map(({ state }) => state),
    )
  return { ...world, calls, heard, parts, queue, states }
}

it('a fault in one process pauses the provider in all, and one message of all tries it again', async () => {
  const { calls, clock, parts, queue, states, heard } = await processes(4, busy)
  await queue(100)
  await clock.advance(2_000)
  // What was under unit when the first fault came back, in whichever process.
  const met = calls.length
  expect(met).toBeLessThanOrEqual(4 * 3)
  await clock.advance(4 * MINUTE)
  expect(calls).toHaveLength(met)
  expect(await states()).toEqual(['paused', 'paused', 'paused', 'paused'])
  await clock.advance(MINUTE)
  // The hint wins over what doubling would make of it.
  expect(calls).toHaveLength(met + 1)
  await clock.advance(4 * MINUTE)
  expect(calls).toHaveLength(met + 1)
  parts.behaviour = accepted
  await clock.advance(20 * MINUTE)
  expect(calls).toHaveLength(met + 1 + 100)
  expect(heard.at(-1)).toBe('provider.resumed')
  expect(heard.filter((event) => event === 'provider.resumed')).toHaveLength(1)
  expect(heard[0]).toBe(`provider.paused provider_rate_limited ${5 * MINUTE}`)
  expect(await states()).toEqual(['ready', 'ready', 'ready', 'ready'])
})

it('while one message tries a provider none of another process goes beside it', async () => {
  const { calls, clock, parts, queue, states } = await processes(3, busy)
  await queue(60)
  await clock.advance(2_000)
  let answer = (_outcome: unknown): void => {}
  parts.behaviour = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const before = calls.length
  await clock.advance(5 * MINUTE + 15_000)
  expect(calls).toHaveLength(before + 1)
  expect(await states()).toEqual(['probing', 'probing', 'probing'])
  parts.behaviour = accepted
  answer({ kind: 'accepted' })
  await clock.advance(2_000)
  expect(calls.length).toBeGreaterThan(before + 40)
})

it('repeated passing faults open the circuit for all', async () => {
  const { calls, clock, queue } = await processes(3, async () => ({
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
  }))
  await queue(300)
  await clock.advance(10 * MINUTE)
  // Each process meets at most what it had under way; then one message after each rest, from 1 s up to 5 min.
  expect(calls.length).toBeLessThan(3 * 3 * 2 + 15)
})

it('no hint makes a rest longer than the option says', async () => {
  const { calls, clock, queue, heard } = await processes(
    1,
    async () => ({
      kind: 'retry',
      code: 'provider_quota_exceeded',
      scope: 'account',
      retryAfterMs: 24 * 60 * MINUTE,
    }),
    { maxPauseMs: 10 * MINUTE },
  )
  await queue(5)
  await clock.advance(1_000)
  const met = calls.length
  expect(heard).toEqual([`provider.paused provider_quota_exceeded ${10 * MINUTE}`])
  await clock.advance(10 * MINUTE)
  expect(calls).toHaveLength(met + 1)
})
