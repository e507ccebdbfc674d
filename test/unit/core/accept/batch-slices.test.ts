import { expect, it } from 'vitest'
import { createGate } from '../../../../src/core/gate/gate.ts'
import { type Asked, GO } from '../../../../src/core/gate/verdict.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

/** Counts turns of the event loop during work, and notes the count when asked. */
async function turnsOf(work: (note: () => void) => Promise<unknown>) {
  const noted: number[] = []
  let turns = 0
  let isOver = false
  function turn(): void {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work(() => void noted.push(turns))
  isOver = true
  return { turns, noted }
}

const isRising = (noted: readonly number[]) =>
  noted.every((turn, at) => at === 0 || turn > (noted[at - 1] ?? 0))

it('a batch lets others go between the look-ups of its people', async () => {
  const world = notifierWorld()
  let note = () => {}
  const notifier = await world.start({
    channels: { email: recordingProvider() },
    recipients: {
      resolve(ids) {
        note()
        return new Map(ids.map((id) => [id, { channels: { email: `${id}@example.com` } }]))
      },
    },
  })
  const messages = Array.from({ length: 3_500 }, (_, at) => ({
    recipient: `u${at}`,
    channel: 'email',
    text: 'Hi',
  }))
  const { noted } = await turnsOf((noting) => {
    note = noting
    return notifier.sendBatch(messages)
  })
  expect(noted).toHaveLength(4)
  expect(isRising(noted)).toBe(true)
})

it('a batch lets others go between the channels of a message', async () => {
  let elapsed = 0
  // Each step takes longer than a slice.
  const clock = { ...fakeClock(), monotonic: () => (elapsed += 5) }
  const { start } = notifierWorld({ clock })
  const notifier = await start({
    channels: { email: recordingProvider(), push: recordingProvider(), sms: recordingProvider() },
    recipients: {
      resolve: (ids) =>
        new Map(
          ids.map((id) => [id, { channels: { email: 'a@example.com', push: 'one', sms: '+14155550123' } }]),
        ),
    },
  })
  const messages = Array.from({ length: 50 }, () => ({
    recipient: 'user:42',
    channels: ['push', 'email', 'sms'],
    text: 'Hi',
  }))
  const { turns } = await turnsOf(() => notifier.sendBatch(messages))
  // Reading each message, and validating it on each channel.
  expect(turns).toBeGreaterThanOrEqual(50 * 4)
})

it('the gate lets others go between what it asks about at once', async () => {
  const asked = Array.from({ length: 4_001 }, () => ({}) as Asked)
  const { noted } = await turnsOf((note) => {
    const judge = (messages: readonly Asked[]) => {
      note()
      return messages.map(() => GO)
    }
    return createGate([{ name: 'all', judge }])(asked, { records: { get: async () => [] }, inside: false })
  })
  expect(noted).toHaveLength(3)
  expect(isRising(noted)).toBe(true)
})
