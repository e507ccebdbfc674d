import * as z from 'zod'
import type { SendOptions } from '../tenant.ts'

type Given = SendOptions<unknown>

const common = {
  // Judged with the error that HTTP answers, too.
  idempotencyKey: z.custom<string>().optional(),
}
const strict = z.boolean().optional()
const tx = z.unknown().optional()

/** The options of `send` and `sendBatch`: one that nobody knows is refused, since a slip would double a message. */
export const sendOptions: z.ZodType<Given> = z.strictObject({ ...common, strict, tx })

/** The options of `resend`. */
export const resendOptions: z.ZodType<Given> = z.strictObject({ ...common, tx })

/** The options of `validate`. */
export const validateOptions: z.ZodType<Given> = z.strictObject({ ...common, strict })
