import type { NotifierError } from '../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../domain/organization.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { HealthReport, ProviderHealth } from './records.ts'

/** Asks the storage for something that always exists. @param refusal why calls are refused; null: they are not */
export async function reportHealth(
  storage: Storage,
  refusal: NotifierError | null,
  providers: readonly ProviderHealth[],
): Promise<HealthReport> {
  const answers = await storage.organizations.get(DEFAULT_ORGANIZATION).then(
    (organization) => organization !== null,
    () => false,
  )
  const reason = refusal?.message ?? (answers ? null : 'The storage does not answer.')
  return {
    status: reason === null ? 'ok' : 'unavailable',
    reason,
    storage: { name: storage.name, durable: storage.durable, answers },
    providers,
  }
}
