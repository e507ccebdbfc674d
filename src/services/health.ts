import { isNotifierError, type NotifierError } from '../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../domain/organization.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { ProviderHealth, QueueHealth, WaitingLane } from './delivery/records.ts'
import { within } from './within.ts'

export interface HealthReport {
  /** `ok`: accepts. `unavailable`: not started, stopping, in maintenance, or the storage does not answer or can store nothing. */
  readonly status: 'ok' | 'unavailable'
  /** Why it is unavailable, for people. */
  readonly reason: string | null
  readonly storage: { readonly name: string; readonly durable: boolean; readonly answers: boolean }
  /** Null: there is no queue engine. */
  readonly queue: QueueHealth | null
  /** The providers of this process; of those of single organizations the ones that are open, at most 1,000 in all. */
  readonly providers: readonly ProviderHealth[]
  /** What is due and has no provider that could be asked: at most 100 lanes. */
  readonly waiting: readonly WaitingLane[]
}

/** A storage that takes longer does not answer: who looks at the health may itself wait for no more than seconds. */
const ANSWER_MS = 2_000

/** Asks the storage for something that always exists, and whether it stores. @param refusal why calls are refused; null: they are not */
export async function reportHealth(
  storage: Storage,
  refusal: NotifierError | null,
  delivery: {
    queue(): HealthReport['queue']
    providers(): HealthReport['providers']
    waiting(): HealthReport['waiting']
  },
  clock: Clock,
): Promise<HealthReport> {
  let answers = false
  let fault: string | null = 'The storage does not answer.'
  async function ask(): Promise<void> {
    try {
      answers = (await storage.organizations.get(DEFAULT_ORGANIZATION)) !== null
      if (!answers) return
      await storage.check?.()
      fault = null
    } catch (error) {
      if (isNotifierError(error)) fault = inFull(error)
    }
  }
  await within(ask(), ANSWER_MS, clock)
  const reason = refusal?.message ?? fault
  return {
    status: reason === null ? 'ok' : 'unavailable',
    reason,
    storage: { name: storage.name, durable: storage.durable, answers },
    queue: delivery.queue(),
    providers: delivery.providers(),
    waiting: delivery.waiting(),
  }
}

/** What a storage says of itself tells what to do, as a file that is gone; the cause is seen nowhere else here. */
function inFull({ message, cause }: NotifierError): string {
  // A host with several addresses, as localhost often is: Node's error of all of them has no text of its own.
  const causes = cause instanceof AggregateError && cause.message === '' ? cause.errors : [cause]
  const texts = causes.flatMap((one: unknown) =>
    one instanceof Error && one.message !== '' ? one.message : [],
  )
  return texts.length === 0 ? message : `${message} (${texts.join('; ')})`
}
