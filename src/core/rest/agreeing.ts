/**
 * Accepts every schema if a type and the shape of the schema agree in every field and value, at any depth. Otherwise an
 * object type that no schema matches, with the names of the fields that differ. `readonly` does not count, and
 * `unknown` agrees with every shape.
 */
export type Agreeing<Type, Shape> = unknown extends Type
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
