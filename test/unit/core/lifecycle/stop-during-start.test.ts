import { describe, expect, it } from 'vitest'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import type { Telemetry } from '../../../../src/core/ports/telemetry.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierOverStorage } from '../../../support/notifier-over-storage.ts'

describe('a stop during a start that does not answer', () => {
  function hanging(change: (inner: Storage) => Partial<Storage> = () => ({}), telemetry: Telemetry[] = []) {
    let answer = (): void => {}
    const slow = (): Promise<void> => new Promise((resolve) => (answer = resolve))
    const world = notifierOverStorage(
      (inner) => ({ start: slow, ...change(inner) }),
      recordingProvider(),
      telemetry,
    )
    const started = world.notifier.start().then(
      () => 'resolved',
      (error: unknown) => error,
    )
    return { ...world, slow, started, answer: () => answer() }
  }
  const refused = {
    name: 'NotifierError',
    code: 'not_started',
    message: expect.stringContaining('stopped during its start'),
  }

  it('ends at its deadline, as does the start', async () => {
    const { notifier, clock, counts, started } = hanging()
    const stopped = notifier.stop({ timeoutMs: 3_000 })
    await clock.advance(2_999)
    expect(counts.stop).toBe(0)
    await clock.advance(1)
    await stopped
    expect(await started).toMatchObject(refused)
    expect(counts.stop).toBe(1)
    await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
  })

  it('ends earlier by a second stop', async () => {
    const { notifier, clock, started } = hanging()
    const stopped = notifier.stop({ timeoutMs: 600_000 })
    await clock.advance(1)
    void notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    expect(await started).toMatchObject(refused)
  })

  it('closes a storage that answers later, and uses it for nothing', async () => {
    const asked: string[] = []
    const { notifier, clock, channel, started, answer } = hanging((inner) => ({
      records: {
        ...inner.records,
        async write(sets) {
          asked.push('write')
          return inner.records.write(sets)
        },
      },
      claim(request) {
        asked.push('claim')
        return inner.claim(request)
      },
      async stop() {
        asked.push('stop')
      },
    }))
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    await started
    answer()
    await clock.advance(60_000)
    expect(asked).toEqual(['stop', 'stop'])
    expect(channel.calls).toEqual([])
  })

  it('does not wait for a storage that must open before it can close', async () => {
    const told: unknown[] = []
    const events: string[] = []
    let opened: Promise<void> | undefined
    let answer = (): void => {}
    const { notifier, clock, started } = hanging(() => ({
      start: () => (opened = new Promise((resolve) => (answer = resolve))),
      async stop() {
        await opened
        events.push('closed')
      },
    }))
    notifier.on('error', (error) => told.push(error))
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    // A second is added in which it may close.
    await clock.advance(2_000)
    await stopped
    expect(await started).toMatchObject(refused)
    expect(events).toEqual([])
    answer()
    await settled()
    expect([events, told]).toEqual([['closed', 'closed'], []])
  })

  it.each<[string, boolean]>([
    ['opens nothing more', false],
    ['closes what was opened before', true],
  ])('%s if something else than the storage hangs', async (_name, last) => {
    let answer = (): void => {}
    const slow = <Value>(value: Value): Promise<Value> =>
      new Promise((resolve) => (answer = () => resolve(value)))
    const events: string[] = []
    const { notifier, clock, started } = hanging(
      ({ records }) => ({
        async start() {
          events.push('start')
        },
        async stop() {
          events.push('stop')
        },
        ...(last ? { records: { ...records, write: async (sets) => slow(await records.write(sets)) } } : {}),
      }),
      last ? [] : [{ name: 'slow', start: () => slow(undefined), stop: () => void events.push('plug-in') }],
    )
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    expect(await started).toMatchObject(refused)
    answer()
    await settled()
    expect(events).toEqual(last ? ['start', 'stop', 'stop'] : ['stop', 'stop', 'plug-in'])
  })

  it('reports a storage that answers later and cannot close', async () => {
    const told: unknown[] = []
    const fault = new Error('stuck')
    let stops = 0
    const { notifier, clock, started, answer } = hanging(() => ({
      async stop() {
        stops += 1
        if (stops > 1) throw fault
      },
    }))
    notifier.on('error', (error) => told.push(error))
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    await started
    answer()
    await settled()
    expect(told).toEqual([fault])
  })
})
