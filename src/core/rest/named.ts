import type * as z from 'zod'

const inputs = new Map<z.ZodType, string>()
const outputs = new Map<z.ZodType, string>()

/** Schemas with a name in the OpenAPI document. Generated code uses the names, so they never change. */
export const NAMED: {
  readonly inputs: ReadonlyMap<z.ZodType, string>
  readonly outputs: ReadonlyMap<z.ZodType, string>
} = { inputs, outputs }

/** Names a schema of requests. */
export function namedInput<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  inputs.set(schema, name)
  return schema
}

/** Names a schema of responses. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  outputs.set(schema, name)
  return schema
}
