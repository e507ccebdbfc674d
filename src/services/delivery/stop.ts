/** Ends what one job does: its lease is lost, the notifier stops in haste, or its provider takes too long. */
export interface Stop {
  readonly signal: AbortSignal
  /** The first reason counts. */
  abort(reason: Error): void
  /** Has `listener` called, instead of the one before, when it aborts; at once where it has. */
  onAbort(listener: (reason: Error) => void): void
}

/** A listener of the signal's own would cost more than all else here. */
export function createStop(): Stop {
  const controller = new AbortController()
  const { signal } = controller
  let told = (_reason: Error): void => {}
  return {
    signal,
    abort(reason) {
      if (signal.aborted) return
      controller.abort(reason)
      told(reason)
    },
    onAbort(listener) {
      told = listener
      if (signal.aborted) listener(signal.reason)
    },
  }
}
