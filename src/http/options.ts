import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { HttpsMode } from './client.ts'
import type { ErrorFormat } from './errors.ts'
import { type AddressMatcher, compileNetworks } from './proxies.ts'

/** Options of the REST API, identical for every adapter. */
export interface HttpApiOptions {
  /**
   * `require`: refuse plain HTTP with 403 `https_required`. `allow-loopback`: accept plain HTTP from this machine
   * unless a forwarding header reveals a proxy. `off`: accept plain HTTP from everywhere.
   *
   * @default 'require'
   */
  readonly https?: HttpsMode | undefined
  /**
   * Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, CIDR blocks, `loopback`, `linklocal`,
   * `uniquelocal` and `unix`. `unix` means every client of a Unix socket that the server opened by path, not by file
   * descriptor. The framework's own setting has no effect.
   *
   * @default [] (none)
   */
  readonly trustedProxies?: readonly string[] | undefined
  /** `nested`: `{ error: { code, … } }`. `flat`: `{ error, code, statusCode }`. @default 'nested' */
  readonly errorFormat?: ErrorFormat | undefined
  /** Largest request body in bytes. @default 1 048 576 (1 MiB) */
  readonly maxBodyBytes?: number | undefined
  /** Largest body of a batch in bytes. @default 16 777 216 (16 MiB) */
  readonly maxBatchBytes?: number | undefined
  /**
   * Longest time for a request body to arrive, in milliseconds, from 1 to 600 000. A later body is answered with 408
   * `request_timeout`, and so is a pause of 30 seconds within one.
   *
   * @default 120 000 (two minutes)
   */
  readonly bodyTimeoutMs?: number | undefined
  /**
   * Refuse unknown body fields and query parameters with `invalid_parameter`. In a batch only the item with the field
   * fails. Links in messages and receipts may still carry additional parameters.
   *
   * @default false (unknown fields are ignored, except misplaced fields of a message such as `idempotencyKey`; the
   *   header X-Ignored-Parameters lists unknown parameters)
   */
  readonly strictBody?: boolean | undefined
}

/** {@link HttpApiOptions}, validated and complete. */
export interface ResolvedHttpOptions {
  readonly https: HttpsMode
  /** Null: no trusted proxy. */
  readonly trusted: AddressMatcher | null
  readonly errorFormat: ErrorFormat
  readonly maxBodyBytes: number
  readonly maxBatchBytes: number
  readonly bodyTimeoutMs: number
  readonly strictBody: boolean
}

const MiB = 1024 * 1024
/** A request holds a concurrency slot while its body arrives, which bounds this option. */
const MAX_BODY_TIMEOUT_MS = 600_000
const KNOWN: ReadonlySet<string> = new Set([
  'https',
  'trustedProxies',
  'errorFormat',
  'maxBodyBytes',
  'maxBatchBytes',
  'bodyTimeoutMs',
  'strictBody',
])

/** @throws NotifierError `invalid_configuration` with the option and its valid values */
export function resolveHttpOptions(options: HttpApiOptions): ResolvedHttpOptions {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'an object')
  for (const name of Object.keys(options)) {
    // A misspelt security option must not be ignored silently.
    if (!KNOWN.has(name)) throw unknown(name)
  }
  return Object.freeze({
    https: oneOf('https', options.https ?? 'require', ['require', 'allow-loopback', 'off']),
    trusted: trustedProxies(options.trustedProxies ?? []),
    errorFormat: oneOf('errorFormat', options.errorFormat ?? 'nested', ['nested', 'flat']),
    maxBodyBytes: bytes('maxBodyBytes', options.maxBodyBytes ?? MiB),
    maxBatchBytes: bytes('maxBatchBytes', options.maxBatchBytes ?? 16 * MiB),
    bodyTimeoutMs: bodyTimeout(options.bodyTimeoutMs ?? 120_000),
    strictBody: oneOf('strictBody', options.strictBody ?? false, [false, true]),
  })
}

function oneOf<Value extends string | boolean>(name: string, value: Value, allowed: readonly Value[]): Value {
  if (!allowed.includes(value)) {
    throw wrong(
      name,
      `one of ${allowed.map((item) => (typeof item === 'string' ? `'${item}'` : item)).join(', ')}`,
    )
  }
  return value
}

function bytes(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) throw wrong(name, 'a whole number of bytes above 0')
  return value
}

function bodyTimeout(value: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_BODY_TIMEOUT_MS) {
    throw wrong('bodyTimeoutMs', `a whole number of milliseconds from 1 to ${MAX_BODY_TIMEOUT_MS}`)
  }
  return value
}

function trustedProxies(entries: readonly string[]): AddressMatcher | null {
  if (!Array.isArray(entries)) throw wrong('trustedProxies', 'an array')
  entries.forEach((entry, index) => {
    if (typeof entry !== 'string' || compileNetworks([entry]) === null) {
      throw wrong(
        `trustedProxies[${index}]`,
        "an IP address, a CIDR block, 'loopback', 'linklocal', 'uniquelocal' or 'unix'",
      )
    }
  })
  return entries.length === 0 ? null : compileNetworks(entries)
}

function unknown(option: string): NotifierError {
  const expected = `one of ${[...KNOWN].join(', ')}`
  return new NotifierError('invalid_configuration', {
    message: `"${option}" is not an option of the HTTP API: use ${[...KNOWN].join(', ')}.`,
    details: { option, expected },
  })
}

function wrong(option: string, expected: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `The option "${option}" of the HTTP API must be ${expected}.`,
    details: { option, expected },
  })
}
