import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../ports/clock.ts'
import type { SendContext } from '../ports/provider.ts'

/**
 * Shares processor time among organizations. In each turn of the event loop it works for a few milliseconds at most, and
 * organizations take turns, so that heavy work of one delays another by no more than one slice for each busy organization.
 */
export interface Processor {
  /** @returns runs the work of one message; what an organization asked for first goes first, at every stage */
  share(organizationId: string): RunInSlices
}

/**
 * Runs steps to their end: at once while this turn of the event loop has time left and nothing else waits, otherwise in
 * slices. Throws or rejects as the steps do.
 */
export type RunInSlices = SendContext['runInSlices']

/** How long the steps of all organizations together may run in one turn of the event loop. */
const SLICE_MS = 2

interface Task {
  /** The place of its message in the organization's order. */
  readonly order: number
  /** True: it has ended. */
  advance(): boolean
}

export function createProcessor({ monotonic }: Pick<Clock, 'monotonic'>): Processor {
  /** In the order of their turns. */
  const waiting = new Map<string, Task[]>()
  let shares = 0
  /** What is left of this turn, in milliseconds. */
  let leftMs = SLICE_MS
  let scheduled = false
  /** When the slice that runs is over; null: none runs. */
  let endsAt: number | null = null

  /** A step always runs to its end, so a turn exceeds its time by one step at most. */
  function advance<Result>(steps: Iterator<undefined, Result>): IteratorResult<undefined, Result> {
    // A step of a message may itself ask for more work, which counts as part of it.
    if (endsAt !== null) return advanceUntil(endsAt, steps)
    const began = monotonic()
    endsAt = began + leftMs
    try {
      return advanceUntil(endsAt, steps)
    } finally {
      endsAt = null
      leftMs -= monotonic() - began
      schedule()
    }
  }

  function advanceUntil<Result>(
    end: number,
    steps: Iterator<undefined, Result>,
  ): IteratorResult<undefined, Result> {
    for (;;) {
      const step = steps.next()
      if (step.done === true || monotonic() >= end) return step
    }
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(slice)
  }

  function slice(): void {
    scheduled = false
    leftMs = SLICE_MS
    while (leftMs > 0) {
      const [next] = waiting
      if (next === undefined) return
      const [organization, tasks] = next
      waiting.delete(organization)
      const task = tasks.shift()
      if (tasks.length > 0) waiting.set(organization, tasks)
      if (task?.advance() === false) wait(organization, task)
    }
    schedule()
  }

  function wait(organization: string, task: Task): void {
    const tasks = waiting.get(organization)
    if (tasks === undefined) waiting.set(organization, [task])
    // Later stages of older messages first: they hold slots that others could have.
    else tasks.splice(tasks.findLastIndex(({ order }) => order <= task.order) + 1, 0, task)
    schedule()
  }

  return {
    share(organization) {
      const order = shares++
      return <Result>(steps: Iterator<undefined, Result>): Result | Promise<Result> => {
        if (waiting.size === 0 && leftMs > 0) {
          const step = advance(steps)
          if (step.done === true) return step.value
        }
        // The turn in which it goes on may be another message's, with another trace.
        const inContext = AsyncLocalStorage.snapshot()
        return new Promise((resolve, reject) => {
          wait(organization, {
            order,
            advance: () =>
              inContext(() => {
                try {
                  const step = advance(steps)
                  if (step.done === true) resolve(step.value)
                  return step.done === true
                } catch (error) {
                  reject(error)
                  return true
                }
              }),
          })
        })
      }
    },
  }
}
