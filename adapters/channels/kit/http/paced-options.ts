import * as z from 'zod'
import type { ProviderOptions } from './provider-options.ts'

/** Options of every provider that is called over HTTP, and can be paced. */
export interface PacedProviderOptions extends ProviderOptions {
  /**
   * Most messages in any second, by all processes together that share the rate limiter: a whole number, or a fraction
   * below 1 (0.5: one in two seconds).
   *
   * @default no limit
   */
  readonly maxPerSecond?: number | undefined
}

/** The schema of `maxPerSecond`. */
export const maxPerSecond: z.ZodType<number | undefined> = z
  .number()
  .positive('must be above 0')
  .refine((pace) => pace < 1 || Number.isInteger(pace), 'must be a whole number, or a fraction below 1')
  .optional()
