import type { LimitCheck, LimitDecision, LimitState, WindowCheck } from '../ports/rate-limiter.ts'
import {
  evaluateSlots,
  leftOfSlots,
  newSlots,
  releaseSlot,
  renewSlot,
  type SlotsRecord,
  slotsEndAt,
  takeSlot,
} from './slots.ts'
import {
  evaluateWindow,
  leftOfWindow,
  newWindow,
  refundUnits,
  takeUnits,
  type WindowRecord,
  windowEndsAt,
} from './window.ts'

export interface PauseRecord {
  readonly kind: 'pause'
  until: number
}

/**
 * The record that a limiter keeps of a key. A value of JSON: its fields are those of this version and may change with the next. The
 * functions below change the records that they are given. Their `now` is the limiter's own time in milliseconds,
 * with fractions or without.
 */
export type LimitRecord = WindowRecord | SlotsRecord | PauseRecord

/**
 * A key with nothing counted.
 *
 * @example
 * const record = records.get('org_acme:requests') ?? newRecord({ kind: 'window', windowMs: 60_000 })
 */
export function newRecord(
  check: Pick<WindowCheck, 'kind' | 'windowMs'> | { readonly kind: 'slots' | 'pause' },
): LimitRecord {
  switch (check.kind) {
    case 'window':
      return newWindow(check.windowMs)
    case 'slots':
      return newSlots()
    case 'pause':
      return { kind: 'pause', until: 0 }
  }
}

/**
 * `RateLimiter.consume`: counts if every check allows.
 *
 * @param records of the checks' keys, in their order
 *
 * @example
 * const records = await Promise.all(checks.map(recordOf))
 * const { allowed, states } = consume(records, checks, Date.now())
 */
export function consume(
  records: readonly LimitRecord[],
  checks: readonly LimitCheck[],
  now: number,
): LimitDecision {
  const states: LimitState[] = []
  let allowed = true
  // Every check is evaluated before any is counted.
  for (let index = 0; index < checks.length; index += 1) {
    const state = evaluate(records[index] as LimitRecord, checks[index] as LimitCheck, now)
    states.push(state)
    if (!state.allowed) allowed = false
  }
  for (let index = 0; index < checks.length; index += 1) {
    const [record, check] = [records[index] as LimitRecord, checks[index] as LimitCheck]
    const state = states[index] as LimitState
    if (allowed) take(record, check, state, now)
    else states[index] = { ...state, ...left(record, check, state, now), granted: 0 }
  }
  return { allowed, states }
}

/**
 * `RateLimiter.peek`: counts nothing.
 *
 * @example
 * const { allowed } = peek(await Promise.all(checks.map(recordOf)), checks, Date.now())
 */
export function peek(
  records: readonly LimitRecord[],
  checks: readonly LimitCheck[],
  now: number,
): LimitDecision {
  const states = checks.map((check, index) => evaluate(records[index] as LimitRecord, check, now))
  return { allowed: states.every(({ allowed }) => allowed), states }
}

/**
 * `RateLimiter.refund`
 *
 * @example
 * refund(record, 2, Date.now())
 */
export function refund(record: LimitRecord, units: number, now: number): void {
  if (record.kind === 'window') refundUnits(record, units, now)
}

/**
 * `RateLimiter.pause`
 *
 * @example
 * pause(record, 30_000, Date.now())
 */
export function pause(record: LimitRecord, ms: number, now: number): void {
  if (record.kind === 'pause') record.until = Math.max(record.until, now + ms)
}

/**
 * `RateLimiter.renew`
 *
 * @example
 * const isHeld = renew(record, 'token_1', 30_000, Date.now())
 */
export function renew(record: LimitRecord, token: string, leaseMs: number, now: number): boolean {
  return record.kind === 'slots' && renewSlot(record, token, leaseMs, now)
}

/**
 * `RateLimiter.release`
 *
 * @example
 * release(record, 'token_1')
 */
export function release(record: LimitRecord, token: string): void {
  if (record.kind === 'slots') releaseSlot(record, token)
}

/**
 * The time from which a record equals a {@link newRecord}, so that it can be removed.
 *
 * @example
 * if (endsAt(record) <= Date.now()) records.delete('org_acme:requests')
 */
export function endsAt(record: LimitRecord): number {
  switch (record.kind) {
    case 'window':
      return windowEndsAt(record)
    case 'slots':
      return slotsEndAt(record)
    case 'pause':
      return record.until
  }
}

/** A record is of the kind of the checks of its key. */
function evaluate(record: LimitRecord, check: LimitCheck, now: number): LimitState {
  switch (check.kind) {
    case 'window':
      return evaluateWindow(record as WindowRecord, check, now)
    case 'slots':
      return evaluateSlots(record as SlotsRecord, check, now)
    case 'pause': {
      const leftMs = Math.max(0, (record as PauseRecord).until - now)
      return leftMs === 0
        ? NOT_PAUSED
        : { allowed: false, granted: 0, remaining: 0, resetInMs: leftMs, retryAfterMs: leftMs }
    }
  }
}

const NOT_PAUSED: LimitState = { allowed: true, granted: 0, remaining: 0, resetInMs: 0, retryAfterMs: 0 }

function take(record: LimitRecord, check: LimitCheck, { granted }: LimitState, now: number): void {
  if (check.kind === 'window') takeUnits(record as WindowRecord, check, granted, now)
  else if (check.kind === 'slots') takeSlot(record as SlotsRecord, check, now)
}

/** The rest of a check in a refused call. */
function left(
  record: LimitRecord,
  check: LimitCheck,
  { allowed }: LimitState,
  now: number,
): Partial<LimitState> {
  if (check.kind === 'window') return leftOfWindow(record as WindowRecord, check, now)
  return check.kind === 'slots' && allowed ? leftOfSlots(record as SlotsRecord, check) : {}
}
