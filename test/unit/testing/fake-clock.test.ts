import { expect, test } from 'vitest'
import { fakeClock } from '../../../src/testing/fake-clock.ts'

test('time stands still until it is told to go on', async () => {
  const clock = fakeClock(1_000)
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
  await clock.advance(250)
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250])
})

test.each([new Date(0), '2026-01-15', Number.NaN, null])(
  'a start that is no number (%s) is refused',
  (start) => {
    expect(() => fakeClock(start as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining('Date.UTC'),
      }),
    )
  },
)

test('timers fire in order, each at its own time, equal ones in the order they were set', async () => {
  const clock = fakeClock(0)
  const fired: string[] = []
  for (const [name, delay] of [
    ['c', 30],
    ['a', 10],
    ['b1', 20],
    ['b2', 20],
    ['late', 31],
  ] as const) {
    clock.timer(delay, () => fired.push(`${name}@${clock.now()}`))
  }
  await clock.advance(30)
  expect(fired).toEqual(['a@10', 'b1@20', 'b2@20', 'c@30'])
})

test('a timer set while time goes by fires in its turn, also after a promise', async () => {
  const clock = fakeClock(0)
  const fired: number[] = []
  clock.timer(10, () => {
    void Promise.resolve().then(() => clock.timer(5, () => fired.push(clock.now())))
  })
  clock.timer(20, () => fired.push(clock.now()))
  await clock.advance(20)
  expect(fired).toEqual([15, 20])
})

test('a cancelled timer does not fire, and cancelling again is harmless', async () => {
  const clock = fakeClock()
  const fired: string[] = []
  const cancel = clock.timer(10, () => fired.push('cancelled'))
  cancel()
  cancel()
  await clock.advance(20)
  expect(fired).toEqual([])
})

test('a correction moves the wall clock alone', async () => {
  const clock = fakeClock(10_000)
  const fired: number[] = []
  clock.timer(10, () => fired.push(clock.monotonic()))
  clock.correct(-5_000)
  expect([clock.now(), clock.monotonic()]).toEqual([5_000, 0])
  await clock.advance(10)
  expect([fired, clock.now()]).toEqual([[10], 5_010])
})

test('until: time goes from timer to timer, and no further than it takes', async () => {
  const clock = fakeClock(0)
  const fired: number[] = []
  for (const delay of [10, 20, 20, 30]) clock.timer(delay, () => fired.push(clock.now()))
  expect(await clock.until(async () => fired.length === 2 && fired)).toEqual([10, 20])
  expect([clock.now(), clock.monotonic()]).toEqual([20, 20])
  expect(await clock.until(() => fired.at(-1) === 30)).toBe(true)
})

test('until: what is not reached within the limit, or never, is an error', async () => {
  const clock = fakeClock(0)
  clock.timer(11, () => {})
  await expect(clock.until(() => clock.now() > 0, 10)).rejects.toThrow('Not reached within 10 ms:')
  expect(clock.now()).toBe(0)
  await expect(clock.until(() => false)).rejects.toThrow('Not reached')
})

test('a wait ends in real time, too, though timers never do', async () => {
  const clock = fakeClock()
  const again = (): void => void clock.timer(1_000, again)
  again()
  await expect(clock.until(() => false, undefined, 20)).rejects.toThrow(
    /^Not reached within 20 ms of real time: \d+ ms have gone by, and 1 timers wait\.$/,
  )
})
