import type { Clock } from '../../src/ports/clock.ts'

/** A clock that moves when the test says so. */
export interface VirtualTime extends Clock {
  /** Moves on by `ms`, timer by timer; after each, everything that it set off has run. */
  advance(ms: number): Promise<void>
  /** Moves from timer to timer until `done` answers something; fails after `limitMs` of virtual time. */
  until<Value>(done: () => Value | Promise<Value>, limitMs?: number): Promise<NonNullable<Value>>
  /** Steps the wall clock without time passing. */
  step(ms: number): void
}

const TURNS = 120

/** Lets everything run that waits for no timer. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

export function virtualTime(startAt: number = Date.UTC(2026, 10, 21)): VirtualTime {
  let elapsed = 0
  let stepped = 0
  let number = 0
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()

  function next(): [number, { readonly at: number; readonly callback: () => void }] | undefined {
    let first: ReturnType<typeof next>
    for (const entry of timers) if (first === undefined || entry[1].at < first[1].at) first = entry
    return first
  }

  async function advance(ms: number): Promise<void> {
    const end = elapsed + ms
    await settled()
    for (let due = next(); due !== undefined && due[1].at <= end; due = next()) {
      elapsed = Math.max(elapsed, due[1].at)
      timers.delete(due[0])
      due[1].callback()
      await settled()
    }
    elapsed = end
    await settled()
  }

  return {
    now: () => startAt + stepped + elapsed,
    monotonic: () => elapsed,
    timer(delayMs, callback) {
      number += 1
      const own = number
      timers.set(own, { at: elapsed + delayMs, callback })
      return () => timers.delete(own)
    },
    advance,
    async until(done, limitMs = 30 * 24 * 3_600_000) {
      const end = elapsed + limitMs
      for (;;) {
        await settled()
        const value = await done()
        if (value) return value
        const due = next()
        if (due === undefined || due[1].at > end) throw new Error(`Not reached within ${limitMs} ms.`)
        await advance(Math.max(0, due[1].at - elapsed))
      }
    },
    step(ms) {
      stepped += ms
    },
  }
}
