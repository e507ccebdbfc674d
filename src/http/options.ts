import { invalidOption } from '../core/errors/invalid-option.ts'
import {
  assertOptionNames,
  BOOLEAN,
  type OptionNames,
  type OptionRule,
  oneOf,
} from '../core/errors/option-names.ts'
import type { HttpsMode } from './client.ts'
import type { ErrorFormat } from './errors.ts'
import { type AddressMatcher, compileNetworks } from './proxies.ts'

/** Options of the REST API, identical for every adapter. */
export interface HttpApiOptions {
  /**
   * `require`: refuse plain HTTP with 403 `https_required`. `allow-loopback`: accept it from this machine without a
   * proxy. `off`: accept it from everywhere.
   *
   * @default 'require'
   */
  readonly https?: HttpsMode | undefined
  /**
   * Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, CIDR blocks, `loopback`, `linklocal`,
   * `uniquelocal`, and `unix`, every client of a Unix socket that the server opened by path. The framework's own
   * setting has no effect.
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
   * Longest time for a request body to arrive, in milliseconds, at most 600 000; then 408 `request_timeout`.
   *
   * @default 120 000 (two minutes)
   */
  readonly bodyTimeoutMs?: number | undefined
  /**
   * Refuse unknown body fields and query parameters with `invalid_parameter`; in a batch only the item with the
   * field.
   *
   * @default false (unknown fields are ignored, except misplaced and misspelt fields of a message such as
   * `idempotencyKey`, and those of preferences; the header X-Ignored-Parameters lists unknown parameters)
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
const BYTES: OptionRule = {
  expected: 'a whole number of bytes above 0',
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
}
const OPTIONS: OptionNames<HttpApiOptions> = {
  https: oneOf('require', 'allow-loopback', 'off'),
  trustedProxies: { expected: "an array, such as ['loopback']", holds: Array.isArray },
  errorFormat: oneOf('nested', 'flat'),
  maxBodyBytes: BYTES,
  maxBatchBytes: BYTES,
  bodyTimeoutMs: {
    expected: `a whole number of milliseconds from 1 to ${MAX_BODY_TIMEOUT_MS}`,
    holds: (value) => BYTES.holds(value) && Number(value) <= MAX_BODY_TIMEOUT_MS,
  },
  strictBody: BOOLEAN,
}

/** @throws NotifierError `invalid_configuration` with the option and its valid values */
export function resolveHttpOptions(options: HttpApiOptions): ResolvedHttpOptions {
  assertOptionNames('The HTTP API', options, OPTIONS)
  return Object.freeze({
    https: options.https ?? 'require',
    trusted: trustedProxies(options.trustedProxies ?? []),
    errorFormat: options.errorFormat ?? 'nested',
    maxBodyBytes: options.maxBodyBytes ?? MiB,
    maxBatchBytes: options.maxBatchBytes ?? 16 * MiB,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 120_000,
    strictBody: options.strictBody ?? false,
  })
}

function trustedProxies(entries: readonly string[]): AddressMatcher | null {
  entries.forEach((entry, index) => {
    if (typeof entry === 'string' && compileNetworks([entry]) !== null) return
    const option = `trustedProxies[${index}]`
    const expected = "an IP address, a CIDR block, 'loopback', 'linklocal', 'uniquelocal' or 'unix'"
    throw invalidOption(option, `The HTTP API: "${option}" must be ${expected}.`)
  })
  return entries.length === 0 ? null : compileNetworks(entries)
}
