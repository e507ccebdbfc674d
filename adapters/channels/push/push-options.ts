import * as z from 'zod'

/** The schema of `maxPerSecond`. */
export const pace: z.ZodType<number | undefined> = z
  .number()
  .positive()
  .refine((rate) => rate < 1 || Number.isInteger(rate), 'must be a whole number, or a fraction below 1')
  .optional()
