import type { LimitState, SlotCheck } from '../ports/rate-limiter.ts'

/**
 * The holders of a key's slots with their expiry. Few slots are held at a time, and every request takes one: two short
 * lists are cheaper than a `Map`, which is rebuilt after a few deletions.
 */
export interface SlotsRecord {
  readonly kind: 'slots'
  readonly tokens: string[]
  readonly untils: number[]
}

export function newSlots(): SlotsRecord {
  return { kind: 'slots', tokens: [], untils: [] }
}

/** Evaluates a check without taking a slot. */
export function evaluateSlots(slots: SlotsRecord, { limit, token }: SlotCheck, now: number): LimitState {
  const { tokens, untils } = slots
  // Expired holders matter only if no slot is free.
  if (tokens.length >= limit) expire(slots, now)
  const mine = tokens.length > 0 && tokens.includes(token)
  const used = tokens.length + (mine ? 0 : 1)
  if (used <= limit) {
    return { allowed: true, granted: mine ? 0 : 1, remaining: limit - used, resetInMs: 0, retryAfterMs: 0 }
  }
  const retryAfterMs = Math.min(...untils) - now
  return { allowed: false, granted: 0, remaining: 0, resetInMs: retryAfterMs, retryAfterMs }
}

/** The rest if no slot is taken. */
export function leftOfSlots({ tokens }: SlotsRecord, { limit }: SlotCheck): Pick<LimitState, 'remaining'> {
  return { remaining: Math.max(0, limit - tokens.length) }
}

/** Takes a slot that {@link evaluateSlots} allowed at the same time. */
export function takeSlot({ tokens, untils }: SlotsRecord, { token, leaseMs }: SlotCheck, now: number): void {
  const index = tokens.length === 0 ? -1 : tokens.indexOf(token)
  if (index === -1) {
    tokens.push(token)
    untils.push(now + leaseMs)
  } else {
    untils[index] = now + leaseMs
  }
}

/** Extends a slot. False: it has expired. */
export function renewSlot(slots: SlotsRecord, token: string, leaseMs: number, now: number): boolean {
  expire(slots, now)
  const index = slots.tokens.indexOf(token)
  if (index === -1) return false
  slots.untils[index] = now + leaseMs
  return true
}

/** Returns a slot, if it is held. */
export function releaseSlot(slots: SlotsRecord, token: string): void {
  const index = slots.tokens.lastIndexOf(token)
  if (index !== -1) drop(slots, index)
}

/** The time from which no slot is held. */
export function slotsEndAt({ untils }: SlotsRecord): number {
  return Math.max(0, ...untils)
}

function drop({ tokens, untils }: SlotsRecord, index: number): void {
  const token = tokens.pop()
  const until = untils.pop()
  if (index === tokens.length || token === undefined || until === undefined) return
  tokens[index] = token
  untils[index] = until
}

function expire(slots: SlotsRecord, now: number): void {
  for (let index = slots.tokens.length - 1; index >= 0; index -= 1) {
    if ((slots.untils[index] ?? 0) <= now) drop(slots, index)
  }
}
