import { NotifierError } from '../../src/domain/errors/notifier-error.ts'

/** Whoever calls has started: somebody else has closed what both were given. */
export function notOpen(database: string): NotifierError {
  return new NotifierError('service_unavailable', {
    message: `The ${database} storage is not open: a notifier that has it was stopped. Make a storage for each notifier.`,
  })
}
