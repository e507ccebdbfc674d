import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonObject, OpenApiDocument, Operation } from '../../src/core/rest/openapi.ts'
import type { ErrorFormat } from '../../src/http/errors.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { ROUTES } from '../../src/routes.ts'
import type { Answer } from './http-client.ts'
import { SERVICE } from './kinds.ts'

/** A document that also refuses fields which it does not name, and what has been compiled of it. */
interface Checked {
  readonly document: OpenApiDocument
  /** The segments of its paths. A path with fewer parameters comes first. */
  readonly paths: readonly (readonly string[])[]
  validate(pointer: string, value: unknown): string | null
}

const checked = new Map<ErrorFormat, Checked>()
const OWN = /\/(?:v1|admin|receipts)(?=\/|$)|\/(?:health|openapi\.json|unsubscribe|preferences|open|click)$/

/** Holds an answer of Carillon against the document; other answers pass. @throws Error saying what is wrong */
export function assertDocumented(method: string, url: string, answer: Answer): void {
  if (!/^req_/.test(String(answer.headers['x-request-id'] ?? ''))) return
  const path = pathOf(url)
  const fault = faultOf(path === null ? null : method, path ?? url, answer)
  if (fault === null) return
  throw new Error(`${method} ${url} → ${answer.status} is not as documented: ${fault}\n${answer.text}`)
}

function faultOf(method: string | null, path: string, answer: Answer): string | null {
  const api = checkedDocument(typeof answer.json?.statusCode === 'number' ? 'flat' : 'nested')
  const found = method === null ? null : findOperation(api, method, path)
  if (found === null) {
    if (answer.status < 400) return 'no operation is described'
    return method === 'HEAD' ? null : api.validate('#/components/schemas/Error', answer.json)
  }
  const pointer = `${found.pointer}/responses/${answer.status}`
  const described = found.operation.responses[answer.status]
  if (described === undefined) return `no response with this status is described (${pointer})`
  const target = typeof described.$ref === 'string' ? described.$ref : pointer
  const response = resolve(api.document, target) as JsonObject
  const inHeaders = headerFault(api, response.headers as JsonObject, answer)
  if (inHeaders !== null || method === 'HEAD') return inHeaders
  const { content } = response as { content: JsonObject }
  const sent = String(answer.headers['content-type']).split(';', 1)[0] ?? ''
  const type = [sent, '*/*'].find((each) => each in content)
  if (type === undefined) return `the content type ${sent} is not described`
  return type === 'application/json'
    ? api.validate(`${target}/content/application~1json/schema`, answer.json)
    : null
}

/** The path below the mount, as sent; null: not one of the API. */
function pathOf(url: string): string | null {
  const [path = ''] = url.split('?')
  const at = OWN.exec(path)?.index
  return at === undefined ? null : path.slice(at)
}

function findOperation(
  { document, paths }: Checked,
  method: string,
  path: string,
): { operation: Operation; pointer: string } | null {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const segments = path.split('/')
  const template = paths
    .find(
      (parts) =>
        parts.length === segments.length &&
        parts.every((part, index) =>
          part.startsWith('{') ? segments[index] !== '' : part === segments[index],
        ),
    )
    ?.join('/')
  const operation = template === undefined ? undefined : document.paths[template]?.[verb]
  if (template === undefined || operation === undefined) return null
  return { operation, pointer: `#/paths/${template.replaceAll('/', '~1')}/${verb}` }
}

function headerFault(api: Checked, headers: JsonObject, answer: Answer): string | null {
  for (const name of Object.keys(headers)) {
    const pointer = `#/components/headers/${name}`
    const { required, schema } = resolve(api.document, pointer) as { required?: boolean; schema: JsonObject }
    const text = answer.headers[name.toLowerCase()]
    if (text === undefined) {
      if (required === true) return `the header ${name} is missing`
      continue
    }
    const value = schema.type === 'integer' && /^\d+$/.test(String(text)) ? Number(text) : text
    const fault = api.validate(`${pointer}/schema`, value)
    if (fault !== null) return `the header ${name}: ${fault}`
  }
  const undocumented = ['retry-after', 'idempotent-replayed', 'www-authenticate'].find(
    (name) =>
      answer.headers[name] !== undefined &&
      !Object.keys(headers).some((known) => known.toLowerCase() === name),
  )
  if (undocumented !== undefined) return `the header ${undocumented} is not described`
  const rate = Object.keys(answer.headers).filter((name) => name.startsWith('x-ratelimit-'))
  return rate.length === 4 ? null : `of the rate headers there are only ${rate}`
}

function checkedDocument(errorFormat: ErrorFormat): Checked {
  const known = checked.get(errorFormat)
  if (known !== undefined) return known
  const document = openApiDocument(ROUTES, SERVICE, { errorFormat, strictBody: false })
  const { Error: error, ...schemas } = document.components.schemas ?? {}
  const closed = { ...closeObjects(schemas), Error: error }
  // Compiling the hundreds of schemas costs more than all answers that are held against them.
  const cheap = { inlineRefs: false, validateSchema: false, code: { optimize: false } } as const
  const ajv = new Ajv2020({ strict: false, ...cheap })
  ajv.addFormat('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text))
  ajv.addFormat('date-time', (text) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text))
  ajv.addSchema({ ...document, components: { ...document.components, schemas: closed } }, 'api')
  const compiled = new Map<string, ValidateFunction>()
  const made: Checked = {
    document,
    paths: Object.keys(document.paths)
      .map((path) => path.split('/'))
      .sort((a, b) => parametersOf(a) - parametersOf(b)),
    validate(pointer, value) {
      const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `api${escaped(pointer)}` })
      compiled.set(pointer, validate)
      return validate(value) ? null : ajv.errorsText(validate.errors)
    },
  }
  checked.set(errorFormat, made)
  return made
}

function parametersOf(path: readonly string[]): number {
  return path.filter((part) => part.startsWith('{')).length
}

/** What stands in a URI fragment is percent-encoded. */
function escaped(pointer: string): string {
  return pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')
}

function resolve(document: OpenApiDocument, pointer: string): unknown {
  let value: unknown = document
  for (const part of pointer.slice(2).split('/')) {
    value = (value as JsonObject)[part.replaceAll('~1', '/')]
  }
  return value
}

/** The document leaves answers open, so that they may grow; here a field that it does not name is a fault. */
function closeObjects(value: unknown): Record<string, JsonObject> {
  const close = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(close)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, member]) => [key, close(member)]))
    const open = copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy)
    return open ? { ...copy, additionalProperties: false } : copy
  }
  return close(value) as Record<string, JsonObject>
}
