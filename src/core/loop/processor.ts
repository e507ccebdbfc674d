import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../ports/clock.ts'
import type { SendContext } from '../ports/provider.ts'

/**
 * Shares processor time among organizations: a few milliseconds per turn of the event loop, round-robin. So heavy work
 * of one delays another by at most one slice for each busy organization.
 */
export interface Processor {
  /** @returns a runner for the work of one message. At every stage, an organization's oldest message goes first. */
  share(organizationId: string): RunInSlices
}

/**
 * Runs steps to their end: synchronously while this turn has time left and nothing waits, otherwise in slices. Throws
 * or rejects as the steps do.
 */
export type RunInSlices = SendContext['runInSlices']

/** Time for the steps of all organizations in one turn of the event loop. */
const SLICE_MS = 2

interface Task {
  /** The position of its message in the organization's order. */
  readonly order: number
  /** True: the task has ended. */
  advance(): boolean
}

export function createProcessor({ monotonic }: Pick<Clock, 'monotonic'>): Processor {
  /** Round-robin order. */
  const waiting = new Map<string, Task[]>()
  let shares = 0
  /** Time left in this turn. */
  let leftMs = SLICE_MS
  let scheduled = false
  /** End of the running slice. Null: none. */
  let endsAt: number | null = null

  /** A step always runs to its end, so a turn exceeds its time by at most one step. */
  function advance<Result>(steps: Iterator<undefined, Result>): IteratorResult<undefined, Result> {
    // A step may start more work, which counts as part of it.
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
    // Later stages of older messages go first: they hold slots.
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
        // The task may continue in the turn of another message with another trace.
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
