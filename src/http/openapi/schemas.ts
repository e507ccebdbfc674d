import * as z from 'zod'
import { channel, instant, jsonObject } from '../../core/input/fields.ts'
import { NAMED } from '../../core/rest/named.ts'
import type { JsonObject } from '../../core/rest/openapi.ts'

/** What the document says about a notifier. */
export interface DocumentedNotifier {
  /** Names of the known channels. */
  readonly channels: readonly string[]
  /** Named inputs with the fields of the notifier's channels, instead of those in the routes. */
  readonly inputs: Readonly<Record<string, z.ZodType>>
}

/**
 * The named schemas.
 *
 * @param strict inputs refuse unknown fields
 */
export function componentSchemas(
  strict: boolean,
  { channels, inputs: own }: DocumentedNotifier,
): Readonly<Record<string, JsonObject>> {
  const inputs = convertAll(
    [...NAMED.inputs].map(([schema, name]) => [name, own[name] ?? schema]),
    'input',
  )
  if (strict) {
    for (const schema of Object.values(inputs)) schema.additionalProperties = false
  }
  const outputs = convertAll(
    [...NAMED.outputs].map(([schema, name]) => [name, schema]),
    'output',
  )
  return { ...inputs, ...outputs, Channel: { type: 'string', enum: channels } }
}

/** A reference to a named schema, or an unnamed schema inline. */
export function schemaOf(schema: z.ZodType): JsonObject {
  const name = NAMED.inputs.get(schema) ?? NAMED.outputs.get(schema)
  return name === undefined ? convert(schema) : { $ref: refTo(name) }
}

/** The query parameters of a schema, with the types of their parsed values. */
export function queryParameters(schema: z.ZodType): readonly JsonObject[] {
  const { properties, required = [] } = convert(schema) as {
    properties: Readonly<Record<string, JsonObject>>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    // The default style repeats the parameter once per item, which the API refuses.
    ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
    ...(rest.type === 'object' ? { style: 'deepObject', explode: true } : {}),
    schema: rest,
  }))
}

const refTo = (name: string): string => `#/components/schemas/${name}`

type Mutable = Record<string, unknown>

function convertAll(
  entries: readonly (readonly [name: string, schema: z.ZodType])[],
  io: 'input' | 'output',
): Record<string, Mutable> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of entries) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    override: io === 'input' ? refineSchema : refineAnswer,
    uri: refTo,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema]),
  )
}

function convert(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: refineAnswer,
  })
  return rest
}

/** Translates refinements to JSON Schema and drops redundant keywords. */
function refineSchema({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Mutable }): void {
  // Some generators take an object without properties for an empty one.
  if (zodSchema === jsonObject) Object.assign(jsonSchema, { type: 'object', additionalProperties: true })
  if (zodSchema === channel && jsonSchema.$ref === undefined) {
    for (const key of Object.keys(jsonSchema)) if (key !== 'description') delete jsonSchema[key]
    jsonSchema.$ref = refTo('Channel')
  }
  if (zodSchema === instant) {
    delete jsonSchema.anyOf
    Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
  }
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  delete jsonSchema.propertyNames
}

/** Clients must tolerate new fields in answers. */
function refineAnswer(context: Parameters<typeof refineSchema>[0]): void {
  refineSchema(context)
  const { jsonSchema } = context
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}
