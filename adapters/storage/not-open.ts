import { NotifierError } from '../../src/core/errors/notifier-error.ts'

/** The caller has started, so the error names the likely cause: the storage was closed by another of its users. */
export function notOpen(database: string): NotifierError {
  return new NotifierError('service_unavailable', {
    message: `The ${database} storage is closed: another notifier that uses it was stopped. Create a storage for each notifier.`,
  })
}
