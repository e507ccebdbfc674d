import { NotifierError } from '../errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdempotentUse } from './idempotency.ts'

/** Makes parallel requests with one idempotency key wait for the first; they then find its stored answer. */
export interface SingleFlight {
  /** @throws NotifierError `idempotency_in_progress` if the first takes too long */
  run<Answer>(use: IdempotentUse | null, work: () => Promise<Answer>): Promise<Answer>
}

/** Equal requests wait this long for the first, then get 409. */
const WAIT_MS = 10_000

/**
 * An optimization: the storage alone ensures over all processes that one is stored. Without this, the other requests
 * would be counted against limits in vain.
 */
export function createSingleFlight(clock: Clock): SingleFlight {
  const running = new Map<string, Promise<unknown>>()

  async function afterFirst<Answer>({ key }: IdempotentUse, work: () => Promise<Answer>): Promise<Answer> {
    const name = `${key.organizationId} ${key.operation} ${key.key}`
    const first = running.get(name)
    if (first !== undefined) await wait(first, clock)
    const mine = work()
    running.set(name, mine)
    try {
      return await mine
    } finally {
      if (running.get(name) === mine) running.delete(name)
    }
  }

  return { run: (use, work) => (use === null ? work() : afterFirst(use, work)) }
}

function wait(first: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(WAIT_MS, () =>
      reject(new NotifierError('idempotency_in_progress', { retryAfterMs: 1_000 })),
    )
    const done = (): void => {
      cancel()
      resolve()
    }
    first.then(done, done)
  })
}
