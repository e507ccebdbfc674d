import * as z from 'zod'
import type { RetryPolicy } from '../../../../src/core/delivery/retry-delay.ts'
import { instanceName, isThisMachine, retryPolicy, timeout } from '../options.ts'

/** Options of every HTTP provider. */
export interface ProviderOptions {
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default the provider's name
   */
  readonly name?: string | undefined
  /**
   * Base URL of the API without a trailing slash, for another region or a gateway. `http:` only on this machine.
   *
   * @default the provider's own address
   */
  readonly baseUrl?: string | undefined
  /**
   * Longest time for one message, including DNS lookup and connection, in milliseconds.
   *
   * @default 15_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Most concurrent messages and connections.
   *
   * @default 10
   */
  readonly maxConcurrent?: number | undefined
  /**
   * Most messages per second, shared by all processes with the same rate limiter. Also a fraction (0.5: one in two
   * seconds).
   *
   * @default no limit
   */
  readonly maxPerSecond?: number | undefined
  /** What to do after an ambiguous attempt. Default: see the channel. */
  readonly onAmbiguous?: 'retry' | 'fail' | undefined
  /** Schedule of retries. Default: the engine's policy for providers. */
  readonly retry?: RetryPolicy | undefined
}

/** Schemas of {@link ProviderOptions}, for a provider's own schema. */
export interface ProviderShape {
  readonly name: z.ZodType<string>
  readonly baseUrl: z.ZodType<string>
  readonly timeoutMs: z.ZodType<number>
  readonly maxConcurrent: z.ZodType<number>
  readonly maxPerSecond: z.ZodType<number | undefined>
  readonly onAmbiguous: z.ZodType<'retry' | 'fail'>
  readonly retry: z.ZodType<RetryPolicy | undefined>
}

/** The schema of `maxPerSecond`. */
export const maxPerSecond: z.ZodType<number | undefined> = z
  .number()
  .positive('must be above 0')
  .refine((pace) => pace < 1 || Number.isInteger(pace), 'must be a whole number, or a fraction below 1')
  .optional()

/** @param defaults of the provider; `onAmbiguous` defaults to `retry` */
export function providerShape(defaults: {
  readonly name: string
  readonly baseUrl: string
  readonly onAmbiguous?: 'retry' | 'fail'
}): ProviderShape {
  return {
    name: instanceName.default(defaults.name),
    baseUrl: z
      .string()
      .refine(isBaseUrl, 'must be an https URL without credentials, query or fragment')
      .transform((url) => url.replace(/\/+$/, ''))
      .default(defaults.baseUrl),
    timeoutMs: timeout.default(15_000),
    maxConcurrent: z.int().min(1).max(1000, 'must be at most 1000').default(10),
    maxPerSecond,
    onAmbiguous: z.enum(['retry', 'fail']).default(defaults.onAmbiguous ?? 'retry'),
    retry: retryPolicy.optional(),
  }
}

/** A credential: printable ASCII, so that headers can carry it. */
export const credential: z.ZodType<string> = z
  .string()
  .regex(/^[\x21-\x7e]{1,4096}$/, 'must be printable ASCII without spaces')

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false
  // The URL parser drops an empty query or fragment.
  if (/[?#]/.test(text)) return false
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
}
