import { NotifierError } from '../core/errors/notifier-error.ts'

/** Headers as `Headers`, as Node's `IncomingHttpHeaders`, or as a plain object with names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** The three raw headers of Standard Webhooks 1.0.0. */
export interface SignatureHeaders {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
}

/**
 * Finds the three headers.
 *
 * @throws NotifierError `invalid_webhook_signature` if one is missing, empty or repeated
 */
export function signatureHeaders(headers: WebhookHeaders): SignatureHeaders {
  const read = isWebHeaders(headers) ? (name: string) => headers.get(name) : plainReader(headers)
  function required(name: string): string {
    const value = read(name)
    if (typeof value !== 'string' || value === '') throw invalidSignature(`The header ${name} is missing.`)
    return value
  }
  return {
    id: required('webhook-id'),
    timestamp: required('webhook-timestamp'),
    signature: required('webhook-signature'),
  }
}

function isWebHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function'
}

function plainReader(headers: Exclude<WebhookHeaders, Headers>): (name: string) => unknown {
  // Of names that differ in case the last one counts, as in the reference library.
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => byName.get(name)
}

export function invalidSignature(message: string): NotifierError {
  return new NotifierError('invalid_webhook_signature', { message })
}
