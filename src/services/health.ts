import type { NotifierError } from '../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../domain/organization.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { HealthReport } from './records.ts'
import { within } from './within.ts'

/** A storage that takes longer does not answer: who looks at the health may itself wait for no more than seconds. */
const ANSWER_MS = 2_000

/** Asks the storage for something that always exists. @param refusal why calls are refused; null: they are not */
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
  async function ask(): Promise<void> {
    answers = (await storage.organizations.get(DEFAULT_ORGANIZATION)) !== null
  }
  await within(
    ask().catch(() => {}),
    ANSWER_MS,
    clock,
  )
  const reason = refusal?.message ?? (answers ? null : 'The storage does not answer.')
  return {
    status: reason === null ? 'ok' : 'unavailable',
    reason,
    storage: { name: storage.name, durable: storage.durable, answers },
    queue: delivery.queue(),
    providers: delivery.providers(),
    waiting: delivery.waiting(),
  }
}
