import * as z from 'zod'
import type { RetryPolicy } from '../../../../src/domain/retry.ts'
import { instanceName, retryPolicy, timeout } from '../options.ts'

/** Options of every provider that is called over HTTP. */
export interface ProviderOptions {
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default the provider's name
   */
  readonly name?: string | undefined
  /**
   * Where the API is, without a slash at the end: another region, a gateway. `http:` only on this machine itself.
   *
   * @default the provider's own address
   */
  readonly baseUrl?: string | undefined
  /**
   * How long one message may take, look-up and connection included, in milliseconds.
   *
   * @default 15_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Most messages, and most connections, at one time.
   *
   * @default 10
   */
  readonly maxConcurrent?: number | undefined
  /** What follows when nobody knows whether the provider acted. Default: see the channel. */
  readonly onAmbiguous?: 'retry' | 'fail' | undefined
  /** When failed attempts are tried again. Default: the engine's policy for providers. */
  readonly retry?: RetryPolicy | undefined
}

/** The schemas of {@link ProviderOptions}, to be spread into a provider's own. */
export interface ProviderShape {
  readonly name: z.ZodType<string>
  readonly baseUrl: z.ZodType<string>
  readonly timeoutMs: z.ZodType<number>
  readonly maxConcurrent: z.ZodType<number>
  readonly onAmbiguous: z.ZodType<'retry' | 'fail'>
  readonly retry: z.ZodType<RetryPolicy | undefined>
}

/** @param defaults of the provider; `onAmbiguous` is `retry` unless it says otherwise */
export function providerShape(defaults: {
  readonly name: string
  readonly baseUrl: string
  readonly onAmbiguous?: 'retry' | 'fail'
}): ProviderShape {
  return {
    name: instanceName.default(defaults.name),
    baseUrl: z
      .string()
      .refine(isBaseUrl, 'must be an https address without credentials, query and fragment')
      .transform((url) => url.replace(/\/+$/, ''))
      .default(defaults.baseUrl),
    timeoutMs: timeout.default(15_000),
    maxConcurrent: z.int().min(1).max(1000, 'must be at most 1000').default(10),
    onAmbiguous: z.enum(['retry', 'fail']).default(defaults.onAmbiguous ?? 'retry'),
    retry: retryPolicy.optional(),
  }
}

/** A credential: printable ASCII, as headers carry it. */
export const credential: z.ZodType<string> = z
  .string()
  .regex(/^[\x21-\x7e]{1,4096}$/, 'must be a text of printable ASCII without spaces')

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false
  // The parser leaves an empty query or fragment out.
  if (/[?#]/.test(text)) return false
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
}

/** Of the host of a URL. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
