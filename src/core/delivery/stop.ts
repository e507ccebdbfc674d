import type { PostSignal } from '../ports/outgoing.ts'

/** Stops a job: its lease is lost, the notifier's deadline has passed, or its provider timed out. */
export interface Stop {
  aborted(): boolean
  /** Null: not aborted. */
  reason(): Error | null
  /** Created on first use: it is expensive, and not every provider needs one. */
  signal(): AbortSignal
  /** Only the first reason counts. */
  abort(reason: Error): void
  /** Replaces the listener; called at once if already aborted. */
  onAbort(listener: (reason: Error) => void): void
}

/** Listeners of a signal would cost more than everything else here. */
export function createStop(): Stop {
  let reason: Error | null = null
  let controller: AbortController | null = null
  let told = (_reason: Error): void => {}
  return {
    aborted: () => reason !== null,
    reason: () => reason,
    signal() {
      controller ??= new AbortController()
      if (reason !== null) controller.abort(reason)
      return controller.signal
    },
    abort(given) {
      if (reason !== null) return
      reason = given
      controller?.abort(given)
      told(given)
    },
    onAbort(listener) {
      told = listener
      if (reason !== null) listener(reason)
    },
  }
}

/**
 * Steps that throw the reason of a stop when they would continue. The first step always runs: it may be the only one.
 */
export function untilStopped<Result>(
  steps: Iterator<undefined, Result>,
  stop: Stop,
): Iterator<undefined, Result> {
  let began = false
  return {
    next() {
      const reason = began ? stop.reason() : null
      began = true
      if (reason !== null) throw reason
      return steps.next()
    },
  }
}

/** A stop as the signal of one post, instead of its listener: an AbortSignal would cost more. */
export function postSignal(stop: Stop): PostSignal {
  return new StopSignal(stop)
}

class StopSignal implements PostSignal {
  readonly #stop: Stop

  constructor(stop: Stop) {
    this.#stop = stop
  }

  get aborted(): boolean {
    return this.#stop.aborted()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#stop.onAbort(() => listener())
  }

  removeEventListener(): void {
    this.#stop.onAbort(() => {})
  }
}
