import type { JsonObject, OpenApiDocument, Operation } from '../core/rest/openapi.ts'
import { usage } from './exit.ts'
import { type Flags, kebab } from './flags.ts'

type Place = 'path' | 'query' | 'header' | 'body'

/** A parameter or a field of the body, as a flag. */
export interface Field extends Shape {
  readonly name: string
  /** Without hyphens at its begin. */
  readonly flag: string
  readonly place: Place
  readonly about: string
  readonly required: boolean
  /** The only values that it may have. */
  readonly values?: readonly unknown[]
}

/** The values that a schema allows in the text of a flag. */
export interface Shape {
  /** JSON types. Empty: any. */
  readonly types: readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  /** Of properties without a shape of their own. */
  readonly others?: Shape
}

/** An operation as the command line offers it. It is plain data: the package has those of each service as JSON. */
export interface CallableOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly fields: readonly Field[]
  readonly body: 'json' | 'form' | 'bytes' | null
  readonly example?: unknown
}

/** Flags of every call. A field of the same name has its place before it: `--body-url`. */
export const CALL_FLAGS: Flags = {
  data: { value: 'json', about: 'The body: JSON, "@file", or "-" for stdin. Flags of fields win over it.' },
}
export const BYTES_FLAGS: Flags = {
  data: { value: 'text', about: 'The body as it is: a text, "@file", or "-" for stdin.' },
  'content-type': { value: 'type', about: 'The type of the body. Default: application/octet-stream.' },
}
const RESERVED = ['data', 'content-type', 'config', 'url', 'organization', 'json', 'help']

/** The organization is a flag of every call. */
export function operationsOf(document: OpenApiDocument): readonly CallableOperation[] {
  const resolve = (schema: unknown): JsonObject => resolved(schema as JsonObject, document)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operationOf(method, path, described, resolve)),
  )
}

function operationOf(
  method: string,
  path: string,
  { operationId, summary, description, tags, parameters = [], requestBody }: Operation,
  resolve: (schema: unknown) => JsonObject,
): CallableOperation {
  const content = Object.entries((resolve(requestBody).content ?? {}) as Readonly<Record<string, JsonObject>>)
  const [type = null, { schema, example } = {}] = content[0] ?? []
  const body = type === null ? null : (BODIES[type] ?? 'bytes')
  const inUrl = (parameters as readonly JsonObject[]).flatMap((each) => parameter(resolve(each)))
  const fields = [...inUrl, ...(body === 'bytes' ? [] : bodyFields(resolve(schema)))]
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary: String(summary),
    description: String(description),
    tag: String((tags as readonly unknown[])[0]),
    fields: named(fields, resolve),
    body,
    ...(example === undefined ? {} : { example }),
  }
}

const BODIES: Readonly<Record<string, 'json' | 'form'>> = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
}

function resolved(schema: JsonObject | undefined, document: OpenApiDocument): JsonObject {
  if (typeof schema?.$ref !== 'string') return schema ?? {}
  const [, , group = '', name = ''] = schema.$ref.split('/')
  const { $ref: _, ...around } = schema
  return { ...resolved(document.components[group]?.[name], document), ...around }
}

interface Unnamed extends Omit<Field, 'flag' | keyof Shape> {
  readonly schema: JsonObject
}

function parameter({ name, in: place, description, required, schema }: JsonObject): Unnamed[] {
  if (name === 'orgId' || name === 'X-Organization-ID') return []
  return [
    {
      name: String(name),
      place: place as Place,
      about: String(description ?? ''),
      required: required === true,
      schema: schema as JsonObject,
    },
  ]
}

function bodyFields({ properties = {}, required = [] }: JsonObject): Unnamed[] {
  return Object.entries(properties as Record<string, JsonObject>).map(([name, schema]) => ({
    name,
    place: 'body',
    about: String(schema.description ?? ''),
    required: (required as readonly string[]).includes(name),
    schema,
  }))
}

function named(fields: readonly Unnamed[], resolve: (schema: unknown) => JsonObject): Field[] {
  const taken = new Set(RESERVED)
  return fields.map(({ schema, ...field }) => {
    const short = kebab(field.name.replace(/^X-/, ''))
    const flag = taken.has(short) ? `${field.place}-${short}` : short
    taken.add(flag)
    const values = Array.isArray(schema.enum) ? { values: schema.enum } : {}
    return { ...field, flag, ...values, ...shapeOf(schema, resolve) }
  })
}

/** Deeper properties may be anything: schemas may contain themselves. */
const DEPTH = 4

function shapeOf(given: JsonObject, resolve: (schema: unknown) => JsonObject, depth = DEPTH): Shape {
  if (depth === 0) return { types: [] }
  const schema = resolve(given)
  const shapes = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonObject>>).map(
    ([name, each]) => [name, shapeOf(each, resolve, depth - 1)] as const,
  )
  const others = schema.additionalProperties
  return {
    types: [...typesOf(schema, resolve)],
    ...(shapes.length === 0 ? {} : { properties: Object.fromEntries(shapes) }),
    ...(typeof others !== 'object' ? {} : { others: shapeOf(others as JsonObject, resolve, depth - 1) }),
  }
}

function typesOf(schema: JsonObject, resolve: (schema: unknown) => JsonObject): ReadonlySet<string> {
  const { type, anyOf, oneOf, allOf, enum: values } = resolve(schema)
  const parts = [anyOf, oneOf, allOf].flatMap((each) => (each ?? []) as readonly JsonObject[])
  const own = type === undefined ? [] : [type].flat().map(String)
  const ofValues = own.length === 0 && Array.isArray(values) ? values.map((value) => typeof value) : []
  return new Set([...own, ...ofValues, ...parts.flatMap((part) => [...typesOf(part, resolve)])])
}

/** The shape of `--field.one.other`. */
export function shapeAt(field: Shape, path: readonly string[]): Shape {
  return path.reduce((within: Shape, name) => {
    const { properties = {}, others = { types: [] } } = within
    return Object.hasOwn(properties, name) ? (properties[name] ?? others) : others
  }, field)
}

/** Flags for the fields of an operation. */
export function flagsOf({ fields }: CallableOperation): Flags {
  return Object.fromEntries(fields.map((field) => [field.flag, flagOf(field)]))
}

function flagOf({ types, about, required, values = [] }: Field): Flags[string] {
  const only = types.length === 1 ? types[0] : undefined
  const allowed = values.length > 0 && values.length <= 10 ? ` One of ${values.join(', ')}.` : ''
  return {
    about: `${about}${allowed}`.trim(),
    required,
    ...(only === 'boolean' ? {} : { value: wordOf(types) }),
    ...(types.includes('array') ? { many: true } : {}),
    ...(types.length === 0 || types.includes('object') ? { object: true } : {}),
  }
}

function wordOf(types: readonly string[]): string {
  const words = types.map((type) => (type === 'object' ? 'json' : type))
  return words.length === 0 ? 'json' : words.filter((word) => word !== 'null').join('|')
}

/** The value that a text of a flag means. @throws Exit `usage` */
export function typedValue(text: string, { types }: Shape, flag: string): unknown {
  if (text === 'null' && types.includes('null')) return null
  const isComposite = /^\s*[[{]/.test(text) && (types.includes('object') || types.includes('array'))
  if (isComposite) return parseJson(text, `--${flag}`)
  if (types.length === 0) return readable(text)
  if (
    (types.includes('number') || types.includes('integer')) &&
    text.trim() !== '' &&
    !Number.isNaN(Number(text))
  )
    return Number(text)
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true'
  if (types.includes('string') || types.includes('array')) return text
  throw usage(`--${flag} must be ${types.join(' or ')}, not "${text}".`)
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** @throws Exit `usage` */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`${what} is not JSON: ${(error as Error).message}`)
  }
}
