import { describe, expect, it } from 'vitest'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, retry } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000

describe('leases', () => {
  it('are renewed for as long as an attempt takes', async () => {
    let end = (): void => {}
    const channel = recordingProvider({
      timeoutMs: HOUR / 2,
      send: () => new Promise((resolve) => (end = () => resolve({ kind: 'accepted' }))),
    })
    const { notifier, clock, status, storage } = await deliveryWorld([channel], {
      delivery: { leaseMs: HOUR, pollMs: HOUR },
    })
    const other = await storage.claim({ lanes: [], leaseMs: 1 })
    expect(other.jobs).toEqual([])
    const { id } = await notifier.send(mail)
    await clock.advance(25 * 60_000)
    expect(channel.calls).toHaveLength(1)
    end()
    await clock.advance(1)
    expect(await status(id)).toBe('sent')
  })

  it.each([HOUR, -HOUR])('outlast a clock step of %s ms', async (stepMs) => {
    const channel = recordingProvider({ timeoutMs: 30_000, send: () => new Promise(() => {}) })
    const renewed: number[] = []
    const { notifier, clock, ended, history } = await deliveryWorld([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        renew(refs, leaseMs) {
          renewed.push(refs.length)
          return inner.renew(refs, leaseMs)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(5_000)
    clock.correct(stepMs)
    channel.behave(async () => ({ kind: 'accepted' }))
    const other = await notifier.send(mail)
    expect(await ended(other.id)).toBe('sent')
    expect(renewed).toEqual([1])
    await clock.advance(15_000)
    expect(await history(id)).toEqual(['queued'])
    expect(channel.calls).toHaveLength(2)
  })

  it("that expire during an attempt keep its provider's policy, however long that provider is paused", async () => {
    let crashed = true
    const send = async () => ({ kind: 'accepted' })
    const [first, second] = ['first', 'second'].map((name) =>
      recordingProvider({ name, onAmbiguous: 'fail', send }),
    ) as [RecordingProvider, RecordingProvider]
    const { notifier, clock, ended, history } = await deliveryWorld([first, second], {
      delivery: { leaseMs: 60_000, pollMs: 30_000 },
      // The outcome never reaches the storage: the lease runs out, as after the death of the process.
      wrap: (inner) => ({
        settle: async (settlements) =>
          crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.until(() => first.calls.length > 0)
    await clock.advance(1)
    crashed = false
    first.behave(retry('provider', { retryAfterMs: 10 * 60_000 }))
    const other = await notifier.send(mail)
    expect(await ended(other.id)).toBe('sent')
    await clock.advance(5 * 60_000)
    // It waits for the one provider that may know it, and holds up nobody.
    const { id: third } = await notifier.send(mail)
    expect(await ended(third)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'attempt_ambiguous: delivery_unknown'])
    expect(await ended(id)).toBe('failed')
    expect((await history(id)).at(-1)).toBe('failed: delivery_unknown')
    const asked = [...first.calls, ...second.calls].map(({ context }) => context.notificationId)
    expect(asked.filter((one) => one === id)).toHaveLength(1)
  })

  it('that are lost abort the attempt, and its outcome changes nothing', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'accepted' }))),
    })
    let lost = false
    const { notifier, clock, history } = await deliveryWorld([channel], {
      wrap: (inner) => ({
        renew: async (refs, leaseMs) => (lost ? refs.map(() => false) : inner.renew(refs, leaseMs)),
        settle: async (settlements) =>
          lost ? settlements.map(() => ({ kind: 'stale' })) : inner.settle(settlements),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    lost = true
    const losses = async () => (await notifier.metrics()).counters.leasesLost
    expect(await losses()).toEqual([])
    await clock.advance(20_000)
    expect(channel.calls[0]?.context.signal.aborted).toBe(true)
    expect(await history(id)).toEqual(['queued'])
    expect(await losses()).toEqual([{ labels: {}, value: 1 }])
  })
})
