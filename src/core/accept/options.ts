import * as z from 'zod'

export interface TransactionOption<Tx = never> {
  /**
   * A transaction of the caller: what the call stores or changes holds if it commits, and leaves no trace if it rolls
   * back. Its type depends on the storage: for PostgreSQL an open transaction of `pg`, Kysely, Drizzle or Knex; for
   * SQLite a function that is called with the database inside the transaction. Without the option `storage` the type
   * allows none: pass `sqlite({ file: ':memory:' })`. See docs/tasks/scaling.md.
   */
  readonly tx?: Tx | undefined
}

export interface SendOptions<Tx = never> extends TransactionOption<Tx> {
  /** 1 to 255 visible ASCII characters. A request with the same key is accepted once. Kept for 24 hours. */
  readonly idempotencyKey?: string | undefined
  /**
   * False: ignores unknown fields of a message, except those that belong elsewhere, such as `idempotencyKey`. Default
   * true: they are refused (`invalid_parameter`).
   */
  readonly strict?: boolean | undefined
}

type Given = SendOptions<unknown>

const common = {
  // Checked later, for the same error as over HTTP.
  idempotencyKey: z.custom<string>().optional(),
}
const strict = z.boolean().optional()
const tx = z.unknown().optional()

/** The options of `send` and `sendBatch`. Unknown ones are refused: a misspelt key could duplicate a message. */
export const sendOptions: z.ZodType<Given> = z.strictObject({ ...common, strict, tx })

/** The options of `cancel` and `reschedule`. */
export const changeOptions: z.ZodType<TransactionOption<unknown>> = z.strictObject({ tx })

/** The options of `resend`. */
export const resendOptions: z.ZodType<Given> = z.strictObject({ ...common, tx })

/** The options of `validate`. */
export const validateOptions: z.ZodType<Given> = z.strictObject({ ...common, strict })

/** The options of `explain`. */
export const examineOptions: z.ZodType<Pick<Given, 'strict'>> = z.strictObject({ strict })
