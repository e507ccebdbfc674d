import type { Clock } from '../../ports/clock.ts'
import { pause } from './pause.ts'
import { GRANT_MS, paceCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'
import type { Stop } from './stop.ts'

/** Leave to hand one message over. */
export interface Permit {
  readonly askedAt: number
  readonly answeredAt: number
  /** The limiter has counted the message; else it is asked again before the hand-over. */
  readonly counted: boolean
}

/** How fast messages may be handed to one provider, by all processes together. */
export interface Pace {
  /** How many may leave now, of those that were permitted. */
  granted(): number
  /** The same for messages that are claimed already: a claim that took long does not send back what was permitted for it. */
  kept(): number
  /** False: nothing will be permitted before a time that it has timed. */
  open(): boolean
  /** Asks for permission for at most `room` messages; undefined: there is nothing to ask. */
  ask(room: number): Promise<void> | undefined
  /** Takes one permission; undefined: there is none. */
  take(): Permit | undefined
  /** Waits until a message may leave now: at once, unless its permission has become too old. */
  pass(permit: Permit | undefined, stop: Stop): Promise<void>
}

/** A limiter that says nothing is asked again after this. */
const SILENCE_MS = 1_000
/** A limiter whose answers come too late is asked so often for one message, and then believed. */
const MOST_ASKED = 2

/**
 * Permissions are asked for before jobs are claimed: how many jobs wait is unknown, so first for one, then for twice as
 * many each time that all were used. One that is not used soon is gone.
 *
 * Where the way from there to the hand-over takes longer than a permission is good for, each message would be counted
 * twice. Then what is free is only looked up before a claim, and counted at the hand-over.
 */
export function createPace(
  key: string,
  maxPerSecond: number,
  limits: SharedLimits,
  clock: Clock,
  wakeIn: (ms: number) => void,
): Pace {
  /** In the order in which they were answered. */
  let permits: Permit[] = []
  /** The last message came to its hand-over later than its permission was good for. */
  let late = false
  let next = 1
  let usedAt = Number.NEGATIVE_INFINITY
  let shutUntil = 0

  function dropOld(): void {
    const oldest = clock.monotonic() - GRANT_MS
    if (permits[0] === undefined || permits[0].answeredAt >= oldest) return
    permits = permits.filter(({ answeredAt }) => answeredAt >= oldest)
    next = 1
  }

  function shut(ms: number): void {
    shutUntil = clock.monotonic() + ms
    wakeIn(ms)
  }

  async function request(cost: number): Promise<void> {
    const askedAt = clock.monotonic()
    const counted = !late
    const check = [paceCheck(key, maxPerSecond, cost)]
    const { states } = await (counted ? limits.consume(check) : limits.peek(check))
    const state = states[0]
    if (state === undefined) return shut(SILENCE_MS)
    const permit = { askedAt, answeredAt: clock.monotonic(), counted }
    for (let unit = 0; unit < state.granted; unit += 1) permits.push(permit)
    if (state.granted < cost) shut(state.granted === 0 ? state.retryAfterMs : state.resetInMs)
  }

  return {
    granted() {
      dropOld()
      return permits.length
    },
    kept: () => permits.length,
    open() {
      dropOld()
      return permits.length > 0 || clock.monotonic() >= shutUntil
    },
    ask(room) {
      dropOld()
      // That all were used a while ago is no sign that more wait now.
      if (permits.length > 0 || clock.monotonic() - usedAt > GRANT_MS) next = 1
      const cost = Math.min(room, next) - permits.length
      if (cost <= 0 || clock.monotonic() < shutUntil) return undefined
      next = Math.min(next * 2, Math.max(1, maxPerSecond))
      return request(cost)
    },
    take() {
      usedAt = clock.monotonic()
      return permits.shift()
    },
    async pass(permit, stop) {
      if (permit !== undefined) late = clock.monotonic() - permit.askedAt > GRANT_MS
      if (permit?.counted === true && !late) return
      // The claim took long, or the commit in which the attempt begins: what was permitted before counts no more.
      for (let asked = 1; !stop.aborted(); asked += 1) {
        const askedAt = clock.monotonic()
        const { allowed, states } = await limits.consume([paceCheck(key, maxPerSecond, 1)])
        if (!allowed) {
          const waitMs = states[0]?.retryAfterMs ?? SILENCE_MS
          shut(waitMs)
          await pause(waitMs, stop.signal(), clock)
        } else if (asked >= MOST_ASKED || clock.monotonic() - askedAt <= GRANT_MS) return
      }
    },
  }
}
