import { expect, it } from 'vitest'
import { createHeldSlots, SLOT_MS } from '../../../../src/core/limits/held-slots.ts'
import { memoryRateLimiter } from '../../../../src/core/limits/memory-rate-limiter.ts'
import { observedLimiter } from '../../../../src/core/observe/observed-limiter.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'

it('a limiter whose renew throws instead of rejecting ends no process that has a slot for long', async () => {
  const clock = fakeClock()
  let asked = 0
  const limiter = observedLimiter(
    {
      ...memoryRateLimiter({ clock }),
      renew() {
        asked += 1
        throw new Error('It knows no slots.')
      },
    },
    { record() {} } as never,
    clock,
  )
  const held = createHeldSlots(limiter, clock)
  held.hold({ kind: 'slots', key: 'org_x:concurrency', limit: 1, token: 't', leaseMs: SLOT_MS })
  await clock.advance(SLOT_MS)
  expect(asked).toBe(3)
  held.close()
})
