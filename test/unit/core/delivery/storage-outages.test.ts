import { describe, expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000

describe('a storage that fails', () => {
  const unavailable = () => Promise.reject(new NotifierError('service_unavailable'))

  it('rejects every send that it did not store', async () => {
    let down = true
    const { notifier, clock, storage } = await deliveryWorld([recordingProvider()], {
      wrap: (inner) => ({ accept: (requests) => (down ? unavailable() : inner.accept(requests)) }),
    })
    const sends = await Promise.allSettled(Array.from({ length: 50 }, () => notifier.send(mail)))
    for (const send of sends)
      expect(send).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } })
    await expect(notifier.sendBatch([mail])).rejects.toMatchObject({ code: 'service_unavailable' })
    const stored = await storage.notifications.list(
      { organizationId: 'org_default' },
      { limit: 10, offset: 0 },
    )
    expect(stored.items).toEqual([])
    down = false
    await notifier.send(mail)
    await clock.advance(0)
  })

  it('is claimed from less often, is reported, and recovers', async () => {
    let down = true
    let claims = 0
    const channel = recordingProvider()
    const { notifier, clock, status, errors } = await deliveryWorld([channel], {
      delivery: { pollMs: 1_000 },
      wrap: (inner) => ({
        claim(request) {
          claims += 1
          return down ? unavailable() : inner.claim(request)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(10 * 60_000)
    expect(claims).toBeLessThan(40)
    expect(errors.length).toBe(claims)
    expect(await status(id)).toBe('queued')
    down = false
    await clock.advance(30_000)
    expect(await status(id)).toBe('sent')
    expect(channel.calls).toHaveLength(1)
  })

  it('causes no second hand-over while the lease lasts', async () => {
    let down = 5
    const channel = recordingProvider()
    const { notifier, clock, status, errors, history } = await deliveryWorld([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle(settlements) {
          down -= 1
          return down >= 0 ? unavailable() : inner.settle(settlements)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(50_000)
    expect(await status(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
    expect([channel.calls.length, errors.length]).toEqual([1, 5])
  })

  it('gets an outcome within five seconds of its return', async () => {
    let down = true
    const { notifier, clock, status } = await deliveryWorld([recordingProvider()], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle: (settlements) => (down ? unavailable() : inner.settle(settlements)),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(40_000)
    down = false
    await clock.advance(5_000)
    expect(await status(id)).toBe('sent')
  })

  it('marks an attempt whose outcome it lost as ambiguous, and retries', async () => {
    let down = true
    const channel = recordingProvider()
    const { notifier, clock, ended, history } = await deliveryWorld([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle: (settlements) => (down ? unavailable() : inner.settle(settlements)),
        renew: (refs, leaseMs) => (down ? unavailable() : inner.renew(refs, leaseMs)),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(120_000)
    down = false
    expect(await ended(id)).toBe('sent')
    expect(channel.calls.length).toBeGreaterThanOrEqual(2)
    expect((await history(id)).filter((event) => event.startsWith('attempt_ambiguous'))).toHaveLength(
      channel.calls.length - 1,
    )
  })

  it('stops every hand-over if it cannot record the attempt', async () => {
    let down = true
    const channel = recordingProvider()
    const { notifier, clock, ended, history } = await deliveryWorld([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({ startAttempts: (refs) => (down ? unavailable() : inner.startAttempts(refs)) }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(30_000)
    expect(channel.calls).toEqual([])
    down = false
    expect(await ended(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
  })

  it('is asked to record an attempt again at once, then less and less often', async () => {
    let down = 1
    let asked = 0
    const { notifier, clock, status } = await deliveryWorld([recordingProvider()], {
      delivery: { leaseMs: 60_000, pollMs: HOUR },
      wrap: (inner) => ({
        startAttempts(refs) {
          asked += 1
          down -= 1
          return down >= 0 ? unavailable() : inner.startAttempts(refs)
        },
      }),
    })
    const single = await notifier.send(mail)
    await clock.advance(100)
    expect([await status(single.id), asked]).toEqual(['sent', 2])
    down = Number.POSITIVE_INFINITY
    const { id } = await notifier.send(mail)
    await clock.advance(60_000)
    expect(asked).toBeGreaterThan(15)
    expect(asked).toBeLessThan(30)
    down = 0
    await clock.advance(6_000)
    expect(await status(id)).toBe('sent')
    down = 1
    const after = await notifier.send(mail)
    await clock.advance(100)
    expect(await status(after.id)).toBe('sent')
  })
})
