import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { commitLookup } from '../../../adapters/storage/commit-lookup.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('asks again until the database answers', async () => {
  let asked = 0
  const outcome = commitLookup(async () => {
    asked += 1
    vi.advanceTimersByTime(4_000)
    if (asked < 3) throw new Error('The server restarts.')
    return 'stored'
  })
  expect(await outcome).toBe('stored')
  expect(asked).toBe(3)
})

it.each([
  ['an error of the driver becomes the cause', new Error('refused')],
  ['a NotifierError passes', new NotifierError('service_unavailable')],
])('rejects after ten seconds: %s', async (_name, error) => {
  let asked = 0
  const outcome = commitLookup(async () => {
    asked += 1
    vi.advanceTimersByTime(4_000)
    throw error
  })
  const caught = await outcome.catch((caught: Error) => caught)
  expect(caught).toMatchObject({ code: 'service_unavailable' })
  expect([caught, (caught as Error).cause]).toContain(error)
  expect(asked).toBe(3)
})
