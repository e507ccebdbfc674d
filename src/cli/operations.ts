import type { JsonObject, OpenApiDocument } from '../core/rest/openapi.ts'
import { usage } from './exit.ts'
import { type Flags, kebab } from './flags.ts'

type Place = 'path' | 'query' | 'header' | 'body'

/** A parameter or a field of the body, as a flag. */
export interface Field {
  readonly name: string
  /** Without hyphens at its begin. */
  readonly flag: string
  readonly place: Place
  readonly about: string
  readonly required: boolean
  readonly schema: JsonObject
  /** JSON types. Empty: any. */
  readonly types: ReadonlySet<string>
}

/** An operation as the command line offers it. */
export interface CallableOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly fields: readonly Field[]
  readonly body: 'json' | 'form' | 'bytes' | null
  readonly example: unknown
  /** The schema of one property of a field. */
  propertyOf(field: Field, path: readonly string[]): Pick<Field, 'schema' | 'types'>
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

/** Operations by their ids. The organization is a flag of every call. */
export function operationsOf(document: OpenApiDocument): ReadonlyMap<string, CallableOperation> {
  const resolve = (schema: unknown): JsonObject => resolved(schema as JsonObject, document)
  const found = new Map<string, CallableOperation>()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const content = Object.entries((resolve(described.requestBody).content ?? {}) as JsonObject)
      const [type = null, media] = content[0] ?? []
      const body = type === null ? null : (BODIES[type] ?? 'bytes')
      found.set(described.operationId, {
        id: described.operationId,
        method: method.toUpperCase(),
        path,
        summary: String(described.summary),
        description: String(described.description),
        tag: String((described.tags as readonly unknown[])[0]),
        fields: named(
          [
            ...((described.parameters ?? []) as readonly JsonObject[]).flatMap((each) =>
              parameter(resolve(each)),
            ),
            ...(body === 'bytes' ? [] : bodyFields(resolve((media as JsonObject | undefined)?.schema))),
          ],
          resolve,
        ),
        body,
        example: (media as JsonObject | undefined)?.example,
        propertyOf: (field, names) => {
          const schema = names.reduce((within, name) => property(resolve(within), name), field.schema)
          return { schema, types: typesOf(schema, resolve) }
        },
      })
    }
  }
  return found
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

type Unnamed = Omit<Field, 'flag' | 'types'>

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
  return fields.map((field) => {
    const short = kebab(field.name.replace(/^X-/, ''))
    const flag = taken.has(short) ? `${field.place}-${short}` : short
    taken.add(flag)
    return { ...field, flag, types: typesOf(field.schema, resolve) }
  })
}

function typesOf(schema: JsonObject, resolve: (schema: unknown) => JsonObject): ReadonlySet<string> {
  const { type, anyOf, oneOf, allOf, enum: values } = resolve(schema)
  const parts = [anyOf, oneOf, allOf].flatMap((each) => (each ?? []) as readonly JsonObject[])
  const own = type === undefined ? [] : [type].flat().map(String)
  const ofValues = own.length === 0 && Array.isArray(values) ? values.map((value) => typeof value) : []
  return new Set([...own, ...ofValues, ...parts.flatMap((part) => [...typesOf(part, resolve)])])
}

function property({ properties, additionalProperties }: JsonObject, name: string): JsonObject {
  const own = (properties as Readonly<Record<string, JsonObject>> | undefined)?.[name]
  return own ?? (typeof additionalProperties === 'object' ? (additionalProperties as JsonObject) : {})
}

/** Flags for the fields of an operation. */
export function flagsOf({ fields }: CallableOperation): Flags {
  return Object.fromEntries(fields.map((field) => [field.flag, flagOf(field)]))
}

function flagOf({ types, about, required, schema }: Field): Flags[string] {
  const only = types.size === 1 ? [...types][0] : undefined
  const values =
    Array.isArray(schema.enum) && schema.enum.length <= 10 ? ` One of ${schema.enum.join(', ')}.` : ''
  return {
    about: `${about}${values}`.trim(),
    required,
    ...(only === 'boolean' ? {} : { value: wordOf(types) }),
    ...(types.has('array') ? { many: true } : {}),
    ...(types.size === 0 || types.has('object') ? { object: true } : {}),
  }
}

function wordOf(types: ReadonlySet<string>): string {
  const words = [...types].map((type) => (type === 'object' ? 'json' : type))
  return words.length === 0 ? 'json' : words.filter((word) => word !== 'null').join('|')
}

/** The value that a text of a flag means. @throws Exit `usage` */
export function typedValue(text: string, { types }: Pick<Field, 'types'>, flag: string): unknown {
  if (text === 'null' && types.has('null')) return null
  const isComposite = /^\s*[[{]/.test(text) && (types.has('object') || types.has('array'))
  if (isComposite) return parseJson(text, `--${flag}`)
  if (types.size === 0) return readable(text)
  if ((types.has('number') || types.has('integer')) && text.trim() !== '' && !Number.isNaN(Number(text)))
    return Number(text)
  if (types.has('boolean') && /^(?:true|false)$/.test(text)) return text === 'true'
  if (types.has('string') || types.has('array')) return text
  throw usage(`--${flag} must be ${[...types].join(' or ')}, not "${text}".`)
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
