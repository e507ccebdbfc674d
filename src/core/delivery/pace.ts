import type { Clock } from '../ports/clock.ts'
import { pause } from './pause.ts'
import { GRANT_MS, paceCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'
import type { Stop } from './stop.ts'

/** Permission to hand over one message. */
export interface Permit {
  readonly askedAt: number
  readonly answeredAt: number
  /** The limiter has counted the message. False: ask again before the hand-over. */
  readonly counted: boolean
}

/** The rate at which messages may be handed to a provider, over all processes. */
export interface Pace {
  /** Number of permitted messages that may leave now. */
  granted(): number
  /** The same for messages already claimed: a slow claim does not send back permitted messages. */
  kept(): number
  /** False: nothing is permitted before a time for which a timer is set. */
  open(): boolean
  /** Asks for permission for at most `room` messages. Undefined: not needed. */
  ask(room: number): Promise<void> | undefined
  /** Takes one permit. Undefined: none. */
  take(): Permit | undefined
  /** Waits until a message may leave: at once, unless its permit is too old. */
  pass(permit: Permit | undefined, stop: Stop): Promise<void>
}

/** Delay after which to ask a silent limiter again. */
const SILENCE_MS = 1_000
/** Attempts at a fresh answer for one message; after that a late one counts. */
const MOST_ASKED = 2

/**
 * Permits are requested before jobs are claimed. Since the number of waiting jobs is unknown, it starts with one and
 * doubles each time all were used. Unused permits expire soon.
 *
 * If the way from there to the hand-over takes longer than a permit is valid, each message would count twice. Then the
 * limiter is only peeked before a claim, and counts at the hand-over.
 */
export function createPace(
  key: string,
  maxPerSecond: number,
  limits: SharedLimits,
  clock: Clock,
  wakeIn: (ms: number) => void,
): Pace {
  /** In the order of the answers. */
  let permits: Permit[] = []
  /** The last message reached its hand-over after its permit had expired. */
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
      // Permits used a while ago do not show that more jobs wait now.
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
      // The claim or the commit took long: the old permit is no longer valid.
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
