import type * as z from 'zod'

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

/** A schema without a name. It agrees with the type that it is declared with. */
export function agreeing<Output, Input, Schema extends z.ZodType>(
  schema: Schema & Agreeing<NoInfer<Output>, z.output<Schema>> & Agreeing<NoInfer<Input>, z.input<Schema>>,
): Schema & z.ZodType<Output, Input> {
  return schema as Schema & z.ZodType<Output, Input>
}

/**
 * Accepts every schema if a type and the shape of the schema agree in every field and value, at any depth. Otherwise an
 * object type that no schema matches, with the names of the fields that differ. `readonly` does not count, and
 * `unknown` agrees with every shape.
 */
type Agreeing<Type, Shape> = unknown extends Type
  ? unknown
  : Same<Type, Shape> extends true
    ? unknown
    : { readonly 'the schema and its type differ in': Different<Type, Shape> }

type Same<One, Other> = [Full<One>] extends [Full<Other>]
  ? [Full<Other>] extends [Full<One>]
    ? true
    : false
  : false

/** With every field required: otherwise a type without a field would be assignable to one where it is optional. */
type Full<Type> = Type extends readonly (infer Item)[]
  ? readonly Full<Item>[]
  : Type extends object
    ? { readonly [Name in keyof Type]-?: Full<Exclude<Type[Name], undefined>> | Absence<Type[Name]> }
    : Type

/** Replaces `undefined`, which `-?` removes. JSON has no symbols. */
type Absence<Value> = undefined extends Value ? symbol : never

type Different<One, Other> = {
  [Name in keyof One | keyof Other]-?: Same<ValueOf<One, Name>, ValueOf<Other, Name>> extends true
    ? never
    : Name
}[keyof One | keyof Other]

type ValueOf<Type, Name> = Name extends keyof Type ? Type[Name] : never
