/** Assigns connections to mails. */
export interface ConnectionSlots {
  /** Waits for a connection. False: `signal` aborted first. */
  begin(signal: AbortSignal): Promise<boolean>
  /** Returns the connection of a mail that had begun. */
  end(): void
}

/**
 * Hands out connections in order. The pool has a queue too, but with nodemailer before 10.5 the outcome of a mail that
 * times out in it is unknown. A mail that times out here was certainly not sent.
 */
export function createConnectionSlots(connections: number): ConnectionSlots {
  const waiting = new Set<(begins: boolean) => void>()
  let free = connections

  return {
    begin(signal) {
      if (signal.aborted) return Promise.resolve(false)
      if (free > 0) {
        free -= 1
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        const giveUp = (): void => settle(false)
        function settle(begins: boolean): void {
          waiting.delete(settle)
          signal.removeEventListener('abort', giveUp)
          resolve(begins)
        }
        waiting.add(settle)
        signal.addEventListener('abort', giveUp)
      })
    },
    end() {
      const [next] = waiting
      if (next === undefined) free += 1
      else next(true)
    },
  }
}
