import { describe, expect, it } from 'vitest'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { type DeliveryWorld, deliveryWorld, rejected, retry } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000

/** A message after twenty faults of its provider. */
async function afterOutage(
  options: Parameters<typeof deliveryWorld>[1] = {},
): Promise<DeliveryWorld & { readonly channel: RecordingProvider }> {
  const channel = recordingProvider({ send: retry('provider') })
  const made = await deliveryWorld([channel], options)
  await made.notifier.send(mail)
  await made.clock.until(() => channel.calls.length === 20)
  await made.clock.advance(0)
  return { ...made, channel }
}

describe('a fault of the provider', () => {
  it('that one message causes delays the others by one pause, after which another message probes', async () => {
    const email = recordingProvider({
      maxConcurrent: 1,
      send: async ({ to }) =>
        to.startsWith('cause')
          ? { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
          : { kind: 'accepted' },
    })
    const { notifier, clock, ended } = await deliveryWorld([email])
    await notifier.send({ ...mail, to: 'cause@example.com' })
    await clock.advance(10)
    const { items } = await notifier.sendBatch(Array.from({ length: 10 }, () => mail))
    await clock.advance(31_000)
    for (const item of items) expect(await ended('id' in item ? item.id : '')).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(32_000)
  })

  it('costs the waiting messages no attempt', async () => {
    const channel = recordingProvider({ maxConcurrent: 5, send: retry('provider') })
    const { notifier, clock, status } = await deliveryWorld([channel])
    const { items } = await notifier.sendBatch(Array.from({ length: 100 }, () => mail))
    await clock.advance(60_000)
    expect(channel.calls.length).toBeLessThan(20)
    channel.behave(async () => ({ kind: 'accepted' }))
    await clock.until(async () => {
      const all = await Promise.all(items.map((item) => status('id' in item ? item.id : '')))
      return all.every((one) => one === 'sent')
    })
    expect(new Set(channel.calls.map(({ context }) => context.notificationId)).size).toBe(100)
  })

  it('loses no message in an outage of hours, not even the only one', async () => {
    const channel = recordingProvider({ send: retry('provider') })
    const { notifier, clock, ended, status } = await deliveryWorld([channel])
    const { id } = await notifier.send(mail)
    await clock.advance(6 * HOUR)
    expect(await status(id)).toBe('queued')
    channel.behave(async () => ({ kind: 'accepted' }))
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(6.5 * HOUR)
  })

  it('leaves a message its own attempts for a later fault of the recipient', async () => {
    const { channel, notifier, clock, ended, history } = await afterOutage()
    channel.behave(retry('recipient'))
    await clock.until(() => channel.calls.length > 21)
    channel.behave(async () => ({ kind: 'accepted' }))
    const id = channel.calls[0]?.context.notificationId ?? ''
    expect(await ended(id)).toBe('sent')
    expect((await history(id)).filter((event) => event.startsWith('attempt_failed')).length).toBeGreaterThan(
      20,
    )
    expect((await notifier.notifications.get(id)).timeline.at(-1)?.attempt).toBe(channel.calls.length)
  })

  it('leaves a message its own attempts for a later crash', async () => {
    let crashed = false
    const { channel, clock, ended, history } = await afterOutage({
      delivery: { leaseMs: 60_000, pollMs: 30_000 },
      // The outcome never reaches the storage: the lease runs out, as after the death of the process.
      wrap: (inner) => ({
        settle: async (settlements) =>
          crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements),
      }),
    })
    crashed = true
    channel.behave(async () => ({ kind: 'accepted' }))
    await clock.until(() => channel.calls.length > 20)
    await clock.advance(1)
    crashed = false
    const id = channel.calls[0]?.context.notificationId ?? ''
    expect(await ended(id)).toBe('sent')
    expect((await history(id)).at(-2)).toBe('attempt_ambiguous: delivery_unknown')
  })

  it('pauses the provider for as long as it asks', async () => {
    const channel = recordingProvider({ maxConcurrent: 5, send: retry('account', { retryAfterMs: HOUR }) })
    const { notifier, clock } = await deliveryWorld([channel])
    await notifier.sendBatch(Array.from({ length: 30 }, () => mail))
    await clock.advance(HOUR - 1)
    expect(channel.calls).toHaveLength(5)
    await clock.advance(1)
    expect(channel.calls).toHaveLength(6)
  })

  it('does not affect other channels', async () => {
    const channel = recordingProvider({ send: retry('account', { retryAfterMs: HOUR }) })
    const sms = recordingProvider({ name: 'sms' })
    const { notifier, clock, ended } = await deliveryWorld([], { channels: { email: channel, sms } })
    await notifier.send(mail)
    const { id } = await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBe(0)
  })

  it('does not include a timeout of the probe: the circuit breaker stays as it was', async () => {
    const channel = recordingProvider({ maxConcurrent: 4, timeoutMs: 1_000, send: rejected('account') })
    const { notifier, clock } = await deliveryWorld([channel])
    await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    await clock.advance(29_999)
    channel.behave(() => new Promise(() => {}))
    const before = channel.calls.length
    await clock.advance(1_000)
    // The probe has not answered: there is no second one beside it.
    expect(channel.calls.length - before).toBe(1)
    await clock.advance(3_000)
    expect(channel.calls.length - before).toBe(2)
  })
})
