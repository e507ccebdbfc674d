import type { Clock } from '../../ports/clock.ts'
import { pause } from './pause.ts'
import { GRANT_MS, paceCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'
import type { Stop } from './stop.ts'

/** How fast messages may be handed to one provider, by all processes together. */
export interface Pace {
  /** How many may leave now, of those that were permitted. */
  granted(): number
  /** False: nothing will be permitted before a time that it has timed. */
  open(): boolean
  /** Asks for permission for at most `room` messages; undefined: there is nothing to ask. */
  ask(room: number): Promise<void> | undefined
  /** Takes one permission. */
  take(): number
  /** Waits until a message may leave now: at once, unless its permission has become too old. */
  pass(permittedAt: number, stop: Stop): Promise<void>
}

/** A limiter that says nothing is asked again after this. */
const SILENCE_MS = 1_000

/**
 * Permissions are asked for before jobs are claimed: how many jobs wait is unknown, so first for one, then for twice as
 * many each time that all were used. One that is not used soon is gone.
 */
export function createPace(
  key: string,
  maxPerSecond: number,
  limits: SharedLimits,
  clock: Clock,
  wakeIn: (ms: number) => void,
): Pace {
  /** When each permission was asked for: it is no older than that. */
  let permits: number[] = []
  let next = 1
  let askedAt = Number.NEGATIVE_INFINITY
  let shutUntil = 0

  function dropOld(): void {
    const oldest = clock.monotonic() - GRANT_MS
    if (permits.length === 0 || (permits[0] as number) >= oldest) return
    permits = permits.filter((at) => at >= oldest)
    next = 1
  }

  function shut(ms: number): void {
    shutUntil = clock.monotonic() + ms
    wakeIn(ms)
  }

  async function request(cost: number): Promise<void> {
    const at = clock.monotonic()
    const { states } = await limits.consume([paceCheck(key, maxPerSecond, cost)])
    const state = states[0]
    if (state === undefined) return shut(SILENCE_MS)
    for (let unit = 0; unit < state.granted; unit += 1) permits.push(at)
    if (state.granted < cost) shut(state.granted === 0 ? state.retryAfterMs : state.resetInMs)
  }

  return {
    granted() {
      dropOld()
      return permits.length
    },
    open() {
      dropOld()
      return permits.length > 0 || clock.monotonic() >= shutUntil
    },
    ask(room) {
      dropOld()
      // One that is used a while after the last was asked for is no sign that many wait.
      if (permits.length > 0 || clock.monotonic() - askedAt > GRANT_MS) next = 1
      const cost = Math.min(room, next) - permits.length
      if (cost <= 0 || clock.monotonic() < shutUntil) return undefined
      askedAt = clock.monotonic()
      next = Math.min(next * 2, Math.max(1, maxPerSecond))
      return request(cost)
    },
    take() {
      return permits.shift() ?? Number.NEGATIVE_INFINITY
    },
    async pass(permittedAt, stop) {
      let at = permittedAt
      // The commit in which the attempt begins took long: what was permitted before it counts no more.
      while (!stop.aborted() && clock.monotonic() - at > GRANT_MS) {
        const asked = clock.monotonic()
        const { allowed, states } = await limits.consume([paceCheck(key, maxPerSecond, 1)])
        if (allowed) at = asked
        else await pause(states[0]?.retryAfterMs ?? 0, stop.signal(), clock)
      }
    },
  }
}
