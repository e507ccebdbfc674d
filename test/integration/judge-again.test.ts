import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/loop/system-clock.ts'
import type { QuietHours } from '../../src/core/notification/quiet-hours.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { type Program, runProgram } from '../support/program.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import type { JudgeAgainProgram } from './programs/judge-again.ts'

/** Midnight in Zurich. */
const NIGHT = Date.parse('2026-01-15T23:00:00Z')
const MINUTE = 60_000
const COUNT = 30
const night: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] }

/** A process that changes, and does not deliver. */
async function open(location: StorageLocation, offMs: number): Promise<Notifier> {
  const system = systemClock()
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: openStorage(location, offMs),
    clock: { ...system, now: () => system.now() + offMs },
  })
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver: false })
  return notifier
}

function run(location: StorageLocation, offMs: number, steps?: number): Program {
  const program = runProgram('judge-again', { location, offMs, steps } satisfies JudgeAgainProgram)
  onTestFinished(() => program.kill('SIGKILL'))
  return program
}

async function send(notifier: Notifier, index: number): Promise<string> {
  return (await notifier.send({ channel: 'email', to: `${index}@example.com`, body: 'Hello' })).id
}

describeEachWith(STORAGES, whyNoStorage, 'changed quiet hours on %s', (_name, location) => {
  it.each([0, 2, 12])(
    'of an organization: two processes that are killed after %i steps each leave the rest to the next one',
    async (steps) => {
      const where = await location()
      const offMs = NIGHT - Date.now()
      const notifier = await open(where, offMs)
      await notifier.preferences.change({ organization: true }, { quietHours: night })
      const ids = await Promise.all(Array.from({ length: COUNT }, (_, index) => send(notifier, index)))
      const stillDelayed = async () => {
        const all = await Promise.all(ids.map((id) => notifier.notifications.get(id)))
        return all.filter(({ waiting }) => waiting?.reason === 'delayed').length
      }
      expect(await stillDelayed()).toBe(COUNT)
      await notifier.preferences.change({ organization: true }, { quietHours: false })
      const first = run(where, offMs, steps)
      expect(await first.ended, first.errors.join('\n')).toBe('SIGKILL')
      // Both changes are under way: one step may be more.
      const left = await stillDelayed()
      expect([COUNT - steps, COUNT - steps - 1]).toContain(left)
      // A lease has ended by then. What is judged once more after some seconds does not mend the second kill.
      const second = run(where, offMs + 2 * MINUTE, steps)
      expect(await second.ended, second.errors.join('\n')).toBe('SIGKILL')
      run(where, offMs + 4 * MINUTE)
      await eventually(async () => {
        const all = await Promise.all(ids.map((id) => notifier.notifications.get(id)))
        return all.every(({ status }) => status === 'sent')
      })
    },
  )

  it('of a person: another process sends what waits, at once', async () => {
    const where = await location()
    const offMs = NIGHT - Date.now()
    const notifier = await open(where, offMs)
    const ada = { channel: 'email', to: 'ada@example.com' } as const
    await notifier.preferences.change(ada, { quietHours: night })
    const { id } = await notifier.send({ ...ada, body: 'Hello' })
    const program = run(where, offMs)
    await program.said('started')
    expect((await notifier.notifications.get(id)).waiting?.reason).toBe('delayed')
    await notifier.preferences.change(ada, { quietHours: null })
    expect((await notifier.notifications.get(id)).waiting?.reason).not.toBe('delayed')
    await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
  })
})
