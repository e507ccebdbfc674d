import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Clock } from '../../../../src/core/ports/clock.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const HOUR = 3_600_000

/** A clock that stands still, and the number of its timers that are pending. */
function countingClock() {
  const time = fakeClock()
  const pending = new Set<object>()
  const clock: Clock = {
    ...time,
    timer(delayMs, callback) {
      const timer = {}
      pending.add(timer)
      const cancel = time.timer(delayMs, () => {
        pending.delete(timer)
        callback()
      })
      return () => {
        pending.delete(timer)
        cancel()
      }
    },
  }
  return { time, clock, pending: () => pending.size }
}

async function world(change: (storage: Storage) => Partial<Storage> = () => ({})) {
  const { time, clock, pending } = countingClock()
  const memory = inMemory(clock)
  const storage = { ...memory, ...change(memory) }
  const email = recordingProvider()
  async function start(deliver = true): Promise<Notifier> {
    const notifier = createNotifier({ clock, storage, channels: { email }, delivery: { pollMs: HOUR } })
    await notifier.start({ deliver })
    onTestFinished(async () => {
      const stopped = notifier.stop({ timeoutMs: 1 })
      await time.advance(60_000)
      await stopped
    })
    return notifier
  }
  return { time, email, start, pending }
}

describe('waitFor', () => {
  it('wakes by what this process records, while no time goes by', async () => {
    const { start } = await world()
    const notifier = await start()
    const { id } = await notifier.send(mail)
    const record = await notifier.waitFor(id)
    expect(record).toMatchObject({ id, status: 'sent' })
    expect(record.timeline.at(-1)).toMatchObject({ event: 'sent' })
    expect(await notifier.waitFor(id)).toEqual(record)
  })

  it.each([
    ['failed', { kind: 'rejected', code: 'invalid_content', scope: 'message' }],
    ['sent', { kind: 'accepted' }],
  ] as const)('ends with the status %s', async (status, outcome) => {
    const { start, email } = await world()
    email.behave(() => outcome)
    const notifier = await start()
    const { id } = await notifier.send(mail)
    expect((await notifier.waitFor(id)).status).toBe(status)
  })

  it('waits through a time to come, and ends with a cancellation', async () => {
    const { time, start } = await world()
    const notifier = await start()
    const { id } = await notifier.send({ ...mail, sendAt: new Date(time.now() + 60_000) })
    const waiting = notifier.waitFor(id, { timeoutMs: HOUR })
    await time.advance(30_000)
    await notifier.notifications.cancel(id)
    expect((await waiting).status).toBe('cancelled')
  })

  it('finds what another process has delivered', async () => {
    const { time, start } = await world()
    const [api, worker] = [await start(false), await start()]
    const { id } = await api.send(mail)
    const waiting = api.waitFor(id)
    expect((await worker.waitFor(id)).status).toBe('sent')
    await time.advance(500)
    expect((await waiting).status).toBe('sent')
  })

  it('rejects in time and says what it has waited for, and leaves no timer', async () => {
    const { time, start, pending } = await world()
    const api = await start(false)
    const before = pending()
    const { id } = await api.send(mail)
    const waiting = expect(api.waitFor(id, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'wait_timeout',
      message: expect.stringMatching(
        /is still "queued" after 5000 ms\. .*until it is sent, has failed or is/,
      ),
      details: { id, status: 'queued', timeoutMs: 5_000 },
    })
    await time.advance(4_999)
    expect(pending()).toBe(before + 2)
    await time.advance(1)
    await waiting
    expect(pending()).toBe(before)
  })

  it('says why the last attempt failed', async () => {
    const { time, start, email } = await world()
    email.behave(({ body }) =>
      body === 'Hello'
        ? { kind: 'retry', code: 'provider_unavailable', scope: 'message', message: '421 Busy' }
        : { kind: 'accepted' },
    )
    const notifier = await start()
    const { id } = await notifier.send(mail)
    const waiting = expect(notifier.waitFor(id, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'wait_timeout',
      message: expect.stringMatching(/Its error is provider_unavailable: 421 Busy$/),
    })
    await vi.waitFor(async () => expect((await notifier.notifications.get(id)).error).not.toBeNull())
    await time.advance(4_999)
    await notifier.waitFor((await notifier.send({ ...mail, body: 'Later' })).id) // by now the first was read again
    await time.advance(1)
    await waiting
  })

  it('rejects in time while the storage does not answer', async () => {
    const { time, start } = await world(({ notifications }) => ({
      notifications: { ...notifications, get: () => new Promise<never>(() => {}) },
    }))
    const api = await start(false)
    const { id } = await api.send(mail)
    const waiting = expect(api.waitFor(id, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'wait_timeout',
      details: { status: null },
    })
    await time.advance(5_000)
    await waiting
  })

  it('rejects for an unknown id, another organization’s and a wrong limit', async () => {
    const { start } = await world()
    const notifier = await start(false)
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const { id } = await notifier.send(mail)
    await expect(notifier.waitFor('notif_1')).rejects.toMatchObject({ code: 'notification_not_found' })
    await expect(notifier.waitFor(null as never)).rejects.toMatchObject({ code: 'invalid_parameter' })
    const other = notifier.organization('org_a').waitFor(id)
    await expect(other).rejects.toMatchObject({ code: 'organization_mismatch' })
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31, '5' as never])
      await expect(notifier.waitFor(id, { timeoutMs })).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { field: 'timeoutMs' },
      })
  })

  it('ends when the notifier stops, which does not wait for it', async () => {
    const { start } = await world()
    const notifier = await start(false)
    const { id } = await notifier.send(mail)
    const waits = [notifier.waitFor(id), notifier.waitFor(id)].map((each) =>
      expect(each).rejects.toMatchObject({ code: 'service_unavailable' }),
    )
    // The deadline would pass only if time did.
    await notifier.stop({ timeoutMs: HOUR })
    await Promise.all(waits)
  })
})

describe('once', () => {
  it('hears the next event alone, and not one before which it was taken off', async () => {
    const { start } = await world()
    const notifier = await start()
    const heard: string[] = []
    const listener = (): void => void heard.push('once')
    const gone = (): void => void heard.push('gone')
    expect(notifier.once('notification.sent', listener)).toBe(notifier)
    notifier.once('notification.sent', gone).off('notification.sent', gone)
    for (let count = 0; count < 2; count += 1) await notifier.waitFor((await notifier.send(mail)).id)
    expect(heard).toEqual(['once'])
  })

  it('leaves the same listener that hears all events', async () => {
    const { start } = await world()
    const notifier = await start()
    const listener = vi.fn()
    notifier.on('notification.sent', listener).once('notification.sent', listener)
    for (let count = 0; count < 2; count += 1) await notifier.waitFor((await notifier.send(mail)).id)
    expect(listener).toHaveBeenCalledTimes(3)
  })

  it('refuses a name that no event has', async () => {
    const notifier = await (await world()).start(false)
    expect(() => notifier.once('sent' as never, () => {})).toThrow(
      expect.objectContaining({ code: 'invalid_parameter' }),
    )
  })
})
