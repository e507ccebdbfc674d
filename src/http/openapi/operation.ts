import type { JsonObject, Operation } from '../../core/rest/openapi.ts'
import type { FormBody, RequestHeader, Route } from '../../core/rest/route.ts'
import type { ErrorFormat } from '../errors.ts'
import { errorResponses, sharedResponses } from './errors.ts'
import { answerHeaders } from './headers.ts'
import { queryParameters, schemaOf } from './schemas.ts'

const identifier = { type: 'string', minLength: 1, maxLength: 128, pattern: '^[\\w-][\\w.-]*$' }

/** Parameters that several operations share, by component name. */
export const PARAMETERS: Readonly<Record<string, JsonObject>> = {
  OrganizationId: {
    name: 'X-Organization-ID',
    in: 'header',
    description:
      "The organization that the request concerns. Default: the key's own. Operator keys require this header or `orgId`.",
    schema: { type: 'string' },
  },
  OrgId: {
    name: 'orgId',
    in: 'query',
    description: 'Equivalent to X-Organization-ID.',
    schema: { type: 'string' },
  },
  RequiredOrgId: {
    name: 'orgId',
    in: 'query',
    required: true,
    description: 'The organization that the request concerns.',
    schema: { type: 'string' },
  },
  OrganizationIdOrAll: {
    name: 'X-Organization-ID',
    in: 'header',
    description:
      "The organization that the request concerns. Default: the key's own. Operator keys require this header or `orgId`, and may name all organizations: `*`.",
    schema: { type: 'string' },
  },
  RequiredOrgIdOrAll: {
    name: 'orgId',
    in: 'query',
    required: true,
    description: 'The organization that the request concerns. With an operator key `*`: all organizations.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A repeated request with the same key within 24 hours gets the first answer and has no further effect.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  TestMode: {
    name: 'X-Test-Mode',
    in: 'header',
    description: '`true`: validate the request without storing or sending anything.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
}

const REQUEST_HEADERS: Readonly<Record<RequestHeader, string>> = {
  'Idempotency-Key': 'IdempotencyKey',
  'X-Test-Mode': 'TestMode',
}

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Identifier of the resource.',
  idOrName: 'Identifier or name of the resource.',
  version: 'Number of the version.',
}

/** Describes one route at one of its paths. */
export function operationOf(route: Route, path: string, format: ErrorFormat): Operation {
  const admin = path.startsWith('/admin/')
  return {
    operationId: operationId(route, path),
    summary: route.summary,
    description: describePermission(route),
    tags: [route.tag.name],
    ...securityOf(route),
    parameters: parametersOf(route, path, admin),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body) }),
    ...(route.raw === true ? { requestBody: RAW_BODY } : {}),
    ...(route.form === undefined ? {} : { requestBody: formBody(route.form) }),
    responses: {
      ...successes(route),
      ...errorResponses(route, format),
      ...(route.page === true ? pageResponses(route, format) : {}),
    },
  }
}

const RAW_BODY: JsonObject = { required: true, content: { '*/*': { schema: { type: 'string' } } } }

function formBody({ fields }: FormBody): JsonObject {
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema: fields } } }
}

/** Generated code uses these names, so they never change. The first path has the route's own name. */
function operationId({ operation, paths }: Route, path: string): string {
  if (path === paths[0]) return operation
  if (path.startsWith('/admin/')) return `admin${capitalized(operation)}`
  return `${operation}Via${capitalized(path.slice(path.lastIndexOf('/') + 1))}`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Absent: either key. */
function securityOf({ belongsTo }: Route): { readonly security?: readonly JsonObject[] } {
  if (belongsTo === undefined) return { security: [] }
  return belongsTo === 'operator' ? { security: [{ operatorKey: [] }] } : {}
}

function describePermission(route: Route): string {
  const always = (route.grants ?? []).map((grant) => ` Requires the grant \`${grant}\`.`)
  const grants = Object.entries(route.queryGrants ?? {}).map(
    ([parameter, grant]) => ` \`${parameter}=true\` requires a key with the grant \`${grant}\`.`,
  )
  return describeLevel(route) + [...always, ...grants].join('')
}

function describeLevel({ permission, needsNoKey, limit, belongsTo }: Route): string {
  const key = belongsTo === 'operator' ? 'operator key' : 'API key'
  switch (permission) {
    case 'public':
      return `Requires no API key${needsNoKey === undefined ? '' : `: ${needsNoKey}`}.${limit === null ? '' : ' Limited by client address.'}`
    case 'Full Access':
      return `Requires an ${key} with the permission \`Full Access\`.`
    default:
      return `Requires an ${key} with the permission \`${permission}\` or a higher one.`
  }
}

function parametersOf(route: Route, path: string, admin: boolean): JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: route.pathParameters?.[name] ?? PATH_PARAMETERS[name] ?? 'Identifier.',
    schema: identifier,
  }))
  const all = route.allOrganizations === true ? 'OrAll' : ''
  const scope = [admin ? `RequiredOrgId${all}` : 'OrgId', `OrganizationId${all}`]
  const shared = [
    ...(route.belongsTo === 'organization' ? scope : []),
    ...(route.requestHeaders ?? []).map((name) => REQUEST_HEADERS[name]),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }))
  return [...inPath, ...(route.query === undefined ? [] : queryParameters(route.query)), ...shared]
}

function requestBody({ example, bodyOptional }: Route, schema: NonNullable<Route['body']>): JsonObject {
  return {
    required: bodyOptional !== true,
    content: { 'application/json': { schema: schemaOf(schema), ...shown(example?.request) } },
  }
}

function shown(example: JsonObject | undefined): JsonObject {
  return example === undefined ? {} : { example }
}

const DESCRIPTIONS = {
  200: 'Success.',
  201: 'Created.',
  202: 'Begun.',
  302: 'Leads on.',
  303: 'Changed; leads to the page.',
} as const

const HTML: JsonObject = { 'text/html': { schema: { type: 'string' } } }

function pageResponses({ form }: Route, format: ErrorFormat): Record<string, JsonObject> {
  const lost = 'The link is invalid, or its notification no longer exists.'
  const pages = { 404: { description: lost, headers: answerHeaders(), content: HTML } }
  const incomplete = form?.incomplete.map((status) => [status, incompleteForm(status, format)])
  return { ...pages, ...Object.fromEntries(incomplete ?? []) }
}

const AROUND_FORM = { 400: 'BadBody', 415: 'UnsupportedMediaType', 422: null } as const

/** A page for an incomplete form, an error for the request around it. */
function incompleteForm(status: keyof typeof AROUND_FORM, format: ErrorFormat): JsonObject {
  const name = AROUND_FORM[status]
  const error = name === null ? undefined : sharedResponses(format)[name]
  const description = 'A page if the form is incomplete'
  if (error === undefined) return { description: `${description}.`, headers: answerHeaders(), content: HTML }
  return {
    ...error,
    description: `${description}, or an error:\n${error.description}`,
    content: { ...(error.content as JsonObject), ...HTML },
  }
}

function successes(route: Route): Record<string, JsonObject> {
  const replayable = route.requestHeaders?.includes('Idempotency-Key') ?? false
  const headers = answerHeaders(replayable ? ['Idempotent-Replayed'] : [])
  const media = { schema: schemaOf(route.response), ...shown(route.example?.response) }
  const description = DESCRIPTIONS[route.status]
  const { mediaType = 'application/json' } = route
  const responses: Record<string, JsonObject> = {
    [route.status]: { description, headers, content: { [mediaType]: media } },
  }
  if (route.otherwise !== undefined) {
    const { status, when, response } = route.otherwise
    const content = { [mediaType]: { schema: schemaOf(response) } }
    responses[status] = { description: when, headers: answerHeaders(), content }
  }
  return responses
}
