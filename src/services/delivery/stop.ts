import type { PostSignal } from '../../ports/outgoing.ts'

/** Ends what one job does: its lease is lost, the notifier stops in haste, or its provider takes too long. */
export interface Stop {
  aborted(): boolean
  /** Why it was aborted; null: it was not. */
  reason(): Error | null
  /** Made when it is first asked for: it costs more than all else here, and not every channel needs one. */
  signal(): AbortSignal
  /** The first reason counts. */
  abort(reason: Error): void
  /** Has `listener` called, instead of the one before, when it aborts; at once where it has. */
  onAbort(listener: (reason: Error) => void): void
}

/** A listener of the signal's own would cost more than all else here. */
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

/** Steps that throw the reason of a stop in place of going on. The first one always runs: it may be all. */
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

/** A stop for one post, which takes the place of its listener: an AbortSignal would cost more. */
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
