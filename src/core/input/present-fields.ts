import * as z from 'zod'

/** Combinations of fields with a schema of their own. Those that come later use the whole schema. */
const MOST = 100

const schemasOf = new WeakMap<z.ZodType, Map<string, z.ZodType>>()

/**
 * The part of a schema for the fields that an input has: zod visits every field of a schema, absent ones too. It judges
 * alike if all fields are optional.
 */
export function presentFields<Schema extends z.ZodType>(schema: Schema, input: unknown): Schema {
  if (!(schema instanceof z.ZodObject) || !isPlain(input)) return schema
  const { shape } = schema
  const names = Object.keys(input)
    .filter((name) => Object.hasOwn(shape, name))
    .sort()
  const key = names.join()
  let known = schemasOf.get(schema)
  if (known === undefined) {
    known = new Map()
    schemasOf.set(schema, known)
  }
  const found = known.get(key)
  if (found !== undefined) return found as Schema
  if (known.size >= MOST) return schema
  const present = Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name)))
  const part = z.core.clone(schema, { ...schema.def, shape: present })
  known.set(key, part)
  return part
}

/** Other objects may inherit fields. */
function isPlain(input: unknown): input is object {
  if (typeof input !== 'object' || input === null) return false
  const prototype = Object.getPrototypeOf(input)
  return prototype === Object.prototype || prototype === null
}
