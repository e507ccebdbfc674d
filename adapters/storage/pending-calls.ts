/** Calls that a stop waits for. */
export interface PendingCalls {
  counted<Args extends readonly unknown[], Answer>(
    call: (...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer>
  /** Wraps a repository so that every call is counted. */
  countedAll<Repository extends object>(repository: Repository): Repository
  /** Resolves when all pending calls have settled. */
  ended(): Promise<void>
}

export function createPendingCalls(): PendingCalls {
  const calls = new Set<Promise<unknown>>()

  const counted: PendingCalls['counted'] =
    (call) =>
    (...args) => {
      const running = call(...args)
      calls.add(running)
      const done = (): void => void calls.delete(running)
      running.then(done, done)
      return running
    }

  return {
    counted,
    countedAll<Repository extends object>(repository: Repository): Repository {
      const methods = Object.entries(repository).map(([name, call]) => [name, counted(call)] as const)
      return Object.fromEntries(methods) as Repository
    },
    async ended() {
      await Promise.allSettled(calls)
    },
  }
}
