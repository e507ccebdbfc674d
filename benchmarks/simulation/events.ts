import { createHeap } from './heap.ts'

/** Events in order of time. */
export interface Agenda {
  at(time: number, run: () => void): void
  /** Runs events in order until `end`, in milliseconds. */
  runUntil(end: number): void
  now(): number
}

export function createAgenda(): Agenda {
  const events = createHeap<() => void>()
  let now = 0
  return {
    at: (time, run) => events.push(time, run),
    runUntil(end) {
      for (let next = events.peek(); next !== undefined && next.key <= end; next = events.peek()) {
        events.pop()
        now = next.key
        next.value()
      }
      now = end
    },
    now: () => now,
  }
}
