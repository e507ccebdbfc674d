import type { Clock } from '../../core/ports/clock.ts'

/** Longest rest after a step. */
const MOST_REST_MS = 1_000

/** Tells that the caller is gone. */
export type Signal = Pick<AbortSignal, 'aborted'>

/** Runs a step when its turn has come. Not from within another step. */
export type Step = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Steps of a call. One that is aborted rejects with an `AbortError`.
 *
 * @param owner steps of different owners take turns. Null: all organizations
 */
export type Pace = (owner: string | null, signal?: Signal) => Step

/**
 * Lets all calls together take one step at a time, with a rest as long as each step took: half of the time is left for
 * everything else, however many calls there are.
 */
export function createPace({ monotonic }: Pick<Clock, 'monotonic'>): Pace {
  /** In the order in which owners have their turns. */
  const waiting = new Map<string | null, (() => void)[]>()
  let isBusy = false

  function next(): void {
    const [first] = waiting
    if (first === undefined) {
      isBusy = false
      return
    }
    const [owner, [begin, ...others]] = first
    waiting.delete(owner)
    if (others.length > 0) waiting.set(owner, others)
    begin?.()
  }

  async function turn(owner: string | null): Promise<void> {
    if (isBusy)
      await new Promise<void>((resolve) => {
        waiting.set(owner, [...(waiting.get(owner) ?? []), resolve])
      })
    isBusy = true
  }

  function rest(ms: number): void {
    if (ms < 1) setImmediate(next)
    else setTimeout(next, Math.min(ms, MOST_REST_MS))
  }

  return (owner, signal) =>
    async function step(work) {
      await turn(owner)
      const began = monotonic()
      try {
        if (signal?.aborted === true) throw new DOMException('The caller is gone.', 'AbortError')
        return await work()
      } finally {
        rest(monotonic() - began)
      }
    }
}
