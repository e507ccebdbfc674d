import { randomUUID } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import type {
  LimitCheck,
  LimitDecision,
  LimitState,
  RateLimiter,
  WindowCheck,
} from '../ports/rate-limiter.ts'
import type { PlanFinder } from '../tenancy/plan-of.ts'
import { BURST_MS, burstOf } from '../tenancy/plans.ts'
import { createHeldSlots, SLOT_MS } from './held-slots.ts'
import { limitError } from './limit-error.ts'
import {
  type Admission,
  type BodyOwner,
  NO_LIMIT,
  type OwnLimits,
  type RateLimitState,
  type RouteLimit,
} from './model.ts'
import { networkOf } from './network.ts'
import { REQUESTS } from './route-limits.ts'

/** Counts requests before any of their body is read. */
export interface RequestLimits {
  admit(organizationId: string, limit: RouteLimit): Promise<Admission>
  admitAddress(address: string, limit: RouteLimit): Promise<Admission>
  admitBody(address: string): Promise<void>
  countRefusedBody(owner: BodyOwner): Promise<void>
  admitCaller(limits: OwnLimits): Promise<Admission>
  /** Counts nothing. */
  admitUncounted(): Admission
  /** Stops renewing the slots of running requests. */
  close(): void
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Requests per minute from one address without a valid key: enough for a mistake, too few for guessing. */
const PER_ADDRESS = 60

/** Refused bodies per minute from one address: from then on it must send bodies whole. */
const REFUSED_BODIES_PER_ADDRESS = 60

/** Sustained overuse: when to restrict an organization, and for how long. */
export interface OverusePolicy {
  /** Refusals above this multiple of the limit … */
  readonly factor: number
  /** … within this time … */
  readonly windowMs: number
  /** … restrict the organization for this time. */
  readonly restrictMs: number
}

export const DEFAULT_OVERUSE: OverusePolicy = { factor: 5, windowMs: 10 * MINUTE, restrictMs: 5 * MINUTE }

export function createRequestLimits(
  limiter: RateLimiter,
  plans: PlanFinder,
  clock: Clock,
  overuse: OverusePolicy | null,
): RequestLimits {
  // All processes share the slots, so tokens must be unique.
  const process = randomUUID()
  let requests = 0
  const held = createHeldSlots(limiter, clock)

  async function admit(named: readonly NamedCheck[], onRefusal: () => Promise<void>): Promise<Admission> {
    const decision = await limiter.consume(named.map(({ check }) => check))
    const states = named.map(({ resource, limit }, index) =>
      stateOf(resource, limit, decision.states[index] as LimitState, clock),
    )
    if (!decision.allowed) {
      // Further requests do not prolong a restriction, because clients know its end.
      const restricted = decision.states.some(
        ({ allowed }, index) => !allowed && named[index]?.check.kind === 'pause',
      )
      if (!restricted) await onRefusal()
      throw refusal(decision, states)
    }
    const slot = named.map(({ check }) => check).find((check) => check.kind === 'slots')
    return {
      state: nearest(states) ?? unlimited(clock),
      release: slot === undefined ? done : held.hold(slot),
    }
  }

  function slotsOf(key: string, limit: number): NamedCheck {
    requests += 1
    const token = `${process}:${requests}`
    return {
      resource: 'concurrency',
      limit,
      check: { kind: 'slots', key, limit, token, leaseMs: SLOT_MS },
    }
  }

  function uncounted(): Admission {
    return { state: unlimited(clock), release: done }
  }

  /** Each limit has its own count: the refusals of a high limit would far exceed a low one at once. */
  async function refused(organizationId: string, name: string, limit: number): Promise<void> {
    if (overuse === null) return
    const units = Math.ceil(overuse.factor * limit)
    const key = `${organizationId}:refusals.${name}`
    // Bursts apply to requests only.
    const check = { ...windowCheck(key, units, overuse.windowMs), burst: units }
    const { allowed } = await limiter.consume([check])
    if (!allowed) await limiter.pause(`${organizationId}:account`, overuse.restrictMs)
  }

  return {
    async admit(organizationId, { name, perMinute }) {
      const { plan } = await plans.of(organizationId)
      const window = perMinute === null ? plan.requests : { limit: perMinute, windowMs: MINUTE }
      const named: NamedCheck[] = [
        { resource: 'account', limit: 0, check: { kind: 'pause', key: `${organizationId}:account` } },
      ]
      if (window !== null) {
        const check = windowCheck(`${organizationId}:${name}`, window.limit, window.windowMs)
        named.push({ resource: name, limit: window.limit, check })
      }
      if (plan.concurrentRequests !== null) {
        named.push(slotsOf(`${organizationId}:concurrency`, plan.concurrentRequests))
      }
      return admit(named, () =>
        window === null ? Promise.resolve() : refused(organizationId, name, window.limit),
      )
    },
    async admitAddress(address, { name, perMinute }) {
      const [resource, limit] = perMinute === null ? ['address', PER_ADDRESS] : [name, perMinute]
      return admit([{ resource, limit, check: addressCheck(resource, address, limit) }], done)
    },
    async admitBody(address) {
      const decision = await limiter.peek([refusedBodies(address)])
      if (decision.allowed) return
      const [state] = decision.states as [LimitState]
      throw refusal(decision, [stateOf('open_bodies', REFUSED_BODIES_PER_ADDRESS, state, clock)])
    },
    async countRefusedBody(owner) {
      if ('address' in owner) {
        await limiter.consume([refusedBodies(owner.address)])
        return
      }
      const { plan } = await plans.of(owner.organizationId)
      if (plan.requests !== null) await refused(owner.organizationId, REQUESTS.name, plan.requests.limit)
    },
    async admitCaller({ name, caller, perMinute, concurrent }) {
      const key = `${name}.${caller}`
      const check = windowCheck(`${key}:requests`, perMinute, MINUTE)
      return admit(
        [{ resource: name, limit: perMinute, check }, slotsOf(`${key}:concurrency`, concurrent)],
        done,
      )
    },
    admitUncounted: uncounted,
    close: held.close,
  }
}

/** Strangers choose the address. */
function addressCheck(name: string, address: string, limit: number): WindowCheck {
  const key = `${name}.${networkOf(address).replaceAll(':', '-')}:requests`
  return { ...windowCheck(key, limit, MINUTE), overflow: `${name}.others:requests:${MINUTE}` }
}

function refusedBodies(address: string): WindowCheck {
  return addressCheck('open_bodies', address, REFUSED_BODIES_PER_ADDRESS)
}

interface NamedCheck {
  readonly resource: string
  readonly limit: number
  readonly check: LimitCheck
}

const done = async (): Promise<void> => {}

/** Only per-minute limits have bursts. */
export function windowCheck(key: string, limit: number, windowMs: number): WindowCheck {
  const burst = windowMs === MINUTE ? burstOf(limit) : limit
  // A plan with another window needs a new count: units of the old one would expire at the wrong time.
  return { kind: 'window', key: `${key}:${windowMs}`, limit, windowMs, burst, burstMs: BURST_MS, cost: 1 }
}

/** The hourly limit has no bursts; a batch takes the rest. */
export function hourlyCheck(organizationId: string, limit: number, cost: number): WindowCheck {
  return {
    kind: 'window',
    key: `${organizationId}:hourly_notifications`,
    limit,
    windowMs: HOUR,
    burst: limit,
    burstMs: 0,
    cost,
    partial: true,
  }
}

export function stateOf(resource: string, limit: number, state: LimitState, clock: Clock): RateLimitState {
  return {
    resource,
    limit,
    remaining: state.remaining,
    resetAt: Math.ceil((clock.now() + state.resetInMs) / 1000),
  }
}

function unlimited(clock: Clock): RateLimitState {
  const resetAt = Math.ceil(clock.now() / 1000)
  return { resource: 'unlimited', limit: NO_LIMIT, remaining: NO_LIMIT, resetAt }
}

/** The state while nothing is allowed. */
export function closedLimit(retryAfterMs: number, clock: Clock): RateLimitState {
  const resetAt = Math.ceil((clock.now() + retryAfterMs) / 1000)
  return { resource: 'service', limit: 0, remaining: 0, resetAt }
}

/**
 * The limit closest to a refusal, by its remaining share. Slots are freed with every answer, so they count only if none
 * is left: the headers describe requests in the window.
 */
function nearest(states: readonly RateLimitState[]): RateLimitState | null {
  let closest: RateLimitState | null = null
  for (const state of states) {
    if (state.resource === 'account' || (state.resource === 'concurrency' && state.remaining > 0)) continue
    if (closest === null || state.remaining / state.limit < closest.remaining / closest.limit) closest = state
  }
  return closest
}

/** The longest of several refusals, so that one wait suffices. */
function refusal({ states }: LimitDecision, named: readonly RateLimitState[]): Error {
  let worst = 0
  for (const [index, { allowed, retryAfterMs }] of states.entries()) {
    if (!allowed && (states[worst]?.allowed !== false || retryAfterMs > (states[worst]?.retryAfterMs ?? 0)))
      worst = index
  }
  const state = named[worst]
  const retryAfterMs = state?.resource === 'concurrency' ? 1_000 : (states[worst]?.retryAfterMs ?? 0)
  return limitError(state as RateLimitState, retryAfterMs)
}
