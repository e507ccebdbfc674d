import { NotifierError } from '../domain/errors/notifier-error.ts'

export function invalidSignature(message: string): NotifierError {
  return new NotifierError('invalid_webhook_signature', { message })
}

export function invalidOption(option: string, message: string): NotifierError {
  return new NotifierError('invalid_configuration', { message, details: { option } })
}
