import { NotifierError } from '../../src/core/errors/notifier-error.ts'

/** Longest pause in a body. The option `bodyTimeoutMs` bounds the whole body. */
export const IDLE_MS = 30_000
export const EMPTY: Uint8Array<ArrayBuffer> = new Uint8Array()

export function incomplete(): NotifierError {
  return new NotifierError('invalid_json', {
    message: 'The connection was closed before the request body was complete.',
  })
}
