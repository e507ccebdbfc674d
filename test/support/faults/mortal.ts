import type { Clock } from '../../../src/core/ports/clock.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'

/** One life of a process: what it does after its death has no effect. */
export interface Life {
  die(): void
  readonly dead: boolean
}

export function newLife(): Life {
  let dead = false
  return {
    die() {
      dead = true
    },
    get dead() {
      return dead
    },
  }
}

const never = new Promise<never>(() => {})

/** Calls of the dead do nothing, and nobody hears their answers. */
export function mortalStorage(storage: Storage, life: Life): Storage {
  return mortal(storage, life)
}

function mortal<Target extends object>(target: Target, life: Life): Target {
  const entries = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'function') {
      const call = async (...args: unknown[]): Promise<unknown> => {
        if (life.dead) return never
        try {
          return await (value as (...args: unknown[]) => unknown)(...args)
        } finally {
          if (life.dead) await never
        }
      }
      return [name, call]
    }
    return [name, typeof value === 'object' && value !== null ? mortal(value, life) : value]
  })
  return Object.fromEntries(entries) as Target
}

/** Timers of the dead do not fire. */
export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    timer: (delayMs, callback) =>
      clock.timer(delayMs, () => {
        if (!life.dead) callback()
      }),
  }
}
