import type * as z from 'zod'
import type { Agreeing } from './agreeing.ts'

const inputs = new Map<z.ZodType, string>()
const outputs = new Map<z.ZodType, string>()

/** Schemas with a name in the OpenAPI document. Generated code uses the names, so they never change. */
export const NAMED: {
  readonly inputs: ReadonlyMap<z.ZodType, string>
  readonly outputs: ReadonlyMap<z.ZodType, string>
} = { inputs, outputs }

/** Names a schema of requests. It agrees with the type that it is declared with. */
export function namedInput<Output, Input, Schema extends z.ZodType>(
  name: string,
  schema: Schema & Agreeing<NoInfer<Input>, z.input<Schema>>,
): Schema & z.ZodType<Output, Input> {
  inputs.set(schema, name)
  return schema as Schema & z.ZodType<Output, Input>
}

/** Names a schema of responses. It agrees with the type that it is declared with. */
export function named<Output, Schema extends z.ZodType>(
  name: string,
  schema: Schema & Agreeing<NoInfer<Output>, z.output<Schema>>,
): Schema & z.ZodType<Output> {
  outputs.set(schema, name)
  return schema as Schema & z.ZodType<Output>
}
