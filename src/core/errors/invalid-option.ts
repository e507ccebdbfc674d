import { NotifierError } from './notifier-error.ts'

/** The error of an invalid option or argument, which the message names. */
export function invalidOption(option: string, message: string, cause?: unknown): NotifierError {
  return new NotifierError('invalid_configuration', { message, details: { option }, cause })
}
