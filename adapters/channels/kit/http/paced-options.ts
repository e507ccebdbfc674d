import * as z from 'zod'
import type { ProviderOptions } from './provider-options.ts'

/** Options of HTTP providers with a rate limit. */
export interface PacedProviderOptions extends ProviderOptions {
  /**
   * Most messages per second, shared by all processes with the same rate limiter. A whole number, or a fraction below 1
   * (0.5: one in two seconds).
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
