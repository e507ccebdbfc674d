import { configuredProvider } from '../../src/core/channels/providers.ts'
import { createProviderState, type ProviderState } from '../../src/core/delivery/provider-state.ts'
import { createSharedLimits } from '../../src/core/delivery/shared-limits.ts'
import { createTally } from '../../src/core/delivery/tally.ts'
import { createWakes } from '../../src/core/delivery/wakes.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import type { ProviderEvent } from '../../src/core/notification/provider-event.ts'
import type { RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { type RecordingProviderOptions, recordingProvider } from '../../src/testing/recording-provider.ts'
import { kindOf } from './kinds.ts'

export const faultReason = { code: 'provider_unavailable', message: 'Busy.' } as const

/** The states of one provider in processes that share a limiter. */
export function providerStates(
  processes = 1,
  shared?: (limiter: RateLimiter) => RateLimiter,
  options: RecordingProviderOptions = {},
) {
  const clock = fakeClock()
  let woken = 0
  const available = (): void => {
    woken += 1
  }
  const events: ProviderEvent[] = []
  const errors: unknown[] = []
  const memory = memoryRateLimiter({ clock })
  const limiter = shared?.(memory) ?? memory
  const states = Array.from({ length: processes }, () =>
    createProviderState(
      configuredProvider(recordingProvider({ maxConcurrent: 4, ...options }), kindOf('email')),
      {
        clock,
        limits: createSharedLimits(
          limiter,
          memoryRateLimiter({ clock }),
          clock,
          (error) => void errors.push(error),
        ),
        maxPauseMs: 24 * 3_600_000,
        available,
        wakeIn: createWakes(clock, available).in,
        tell: (event) => void events.push(event),
      },
      createTally(),
    ),
  )
  return { clock, states, state: states[0] as ProviderState, woken: () => woken, events, errors }
}

/** The slots that a claim round would find free. */
export async function freeNow(state: ProviderState): Promise<number> {
  await state.prepare()
  return state.free()
}

export const isPaused = (state: ProviderState): boolean => state.pausedMs() > 0

/** Runs one message until the answer is called. */
export function message(state: ProviderState): () => Promise<void> {
  let end = (): void => {}
  const run = state.run(
    'org_default',
    async () => {
      await new Promise<void>((resolve) => (end = resolve))
      return null
    },
    async () => {},
  )
  return () => {
    end()
    return run
  }
}

export function freeOfAll(states: readonly ProviderState[]): Promise<number[]> {
  return Promise.all(states.map(freeNow))
}

/** The free slots once the processes believe no earlier look at the limiter. */
export async function freeLater(clock: FakeClock, states: readonly ProviderState[]): Promise<number[]> {
  await clock.advance(1_000)
  return freeOfAll(states)
}
