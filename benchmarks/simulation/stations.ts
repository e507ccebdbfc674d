import type { Agenda } from './events.ts'

/** A queue with a number of servers. */
export interface Station {
  /** Waits for a server, occupies it for `ms`, then calls `next`. */
  pass(ms: number, next: () => void): void
  /** Utilization of its servers, 0 to 1. */
  used(): number
  /** Number of waiting items. */
  waiting(): number
}

/** Consumed places of a queue before it is compacted. */
const COMPACTED = 10_000

export function createStation(agenda: Agenda, servers: number): Station {
  const queue: { readonly ms: number; readonly next: () => void }[] = []
  let head = 0
  let busy = 0
  let worked = 0

  function begin(ms: number, next: () => void): void {
    busy += 1
    worked += ms
    agenda.at(agenda.now() + ms, () => {
      busy -= 1
      const waiting = queue[head]
      if (waiting !== undefined) {
        head += 1
        if (head > COMPACTED) {
          queue.splice(0, head)
          head = 0
        }
        begin(waiting.ms, waiting.next)
      }
      next()
    })
  }

  return {
    pass(ms, next) {
      if (busy < servers) begin(ms, next)
      else queue.push({ ms, next })
    },
    used: () => worked / (servers * agenda.now()),
    waiting: () => queue.length - head,
  }
}

/** The disk: a commit takes `ms` whatever it holds. Commits that arrive meanwhile share the next one. */
export function createCommits(
  agenda: Agenda,
  ms: number,
): Omit<Station, 'pass'> & { pass(next: () => void): void } {
  let waiting: (() => void)[] = []
  let running = false
  let worked = 0

  function run(): void {
    const set = waiting
    waiting = []
    running = true
    worked += ms
    agenda.at(agenda.now() + ms, () => {
      running = false
      if (waiting.length > 0) run()
      for (const next of set) next()
    })
  }

  return {
    pass(next) {
      waiting.push(next)
      if (!running) run()
    },
    used: () => worked / agenda.now(),
    waiting: () => waiting.length,
  }
}
