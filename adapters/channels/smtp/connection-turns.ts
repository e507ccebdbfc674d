/** Which mails have a connection. */
export interface ConnectionTurns {
  /** Waits for a connection. False: `signal` aborted before there was one. */
  begin(signal: AbortSignal): Promise<boolean>
  /** A mail that had begun needs its connection no more. */
  end(): void
}

/**
 * Hands connections to mails in their order. The pool's own queue would do, but a mail that waits there may have left or not
 * when its time is over (nodemailer before 10.5); one that waits here has not.
 */
export function createConnectionTurns(connections: number): ConnectionTurns {
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
