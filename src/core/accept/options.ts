import * as z from 'zod'
import type { SendOptions } from '../../tenant.ts'

type Given = SendOptions<unknown>

const common = {
  // Checked later, for the same error as over HTTP.
  idempotencyKey: z.custom<string>().optional(),
}
const strict = z.boolean().optional()
const tx = z.unknown().optional()

/** The options of `send` and `sendBatch`. Unknown ones are refused: a misspelt key could duplicate a message. */
export const sendOptions: z.ZodType<Given> = z.strictObject({ ...common, strict, tx })

/** The options of `resend`. */
export const resendOptions: z.ZodType<Given> = z.strictObject({ ...common, tx })

/** The options of `validate`. */
export const validateOptions: z.ZodType<Given> = z.strictObject({ ...common, strict })
