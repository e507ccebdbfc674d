import { type ErrorCode, entryOf } from '../../core/errors/catalogue.ts'
import type { JsonObject } from '../../core/rest/openapi.ts'
import type { Route } from '../../core/rest/route.ts'
import type { ErrorFormat } from '../errors.ts'
import { answerHeaders } from './headers.ts'

/** Codes by status. */
/** Codes with their messages. */
type Messages = ReadonlyMap<ErrorCode, string>
type Codes = ReadonlyMap<number, Messages>

const ANY: readonly ErrorCode[] = [
  'invalid_parameter',
  'https_required',
  'rate_limit_exceeded',
  'internal_server_error',
  'service_unavailable',
]
const WITH_KEY: readonly ErrorCode[] = [
  'missing_authorization',
  'invalid_api_key',
  'expired_api_key',
  'ip_not_allowed',
  'insufficient_permissions',
]
/** The last two concern operator keys, whose requests name the organization. */
const OF_ORGANIZATION: readonly ErrorCode[] = ['organization_mismatch', 'missing_required_field', 'not_found']
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'body_already_read',
]

/** Error responses that many operations share, by component name. */
const SHARED: readonly (readonly [name: string, status: number, codes: readonly ErrorCode[]])[] = [
  ['BadRequest', 400, ['invalid_parameter']],
  ['BadBody', 400, ['invalid_parameter', 'invalid_json']],
  ['Unauthorized', 401, ['missing_authorization', 'invalid_api_key', 'expired_api_key']],
  [
    'Forbidden',
    403,
    ['https_required', 'ip_not_allowed', 'insufficient_permissions', 'organization_mismatch'],
  ],
  [
    'OperatorRequired',
    403,
    ['https_required', 'ip_not_allowed', 'insufficient_permissions', 'operator_key_required'],
  ],
  ['NotFound', 404, ['not_found']],
  ['RequestTimeout', 408, ['request_timeout']],
  ['PayloadTooLarge', 413, ['payload_too_large']],
  ['UnsupportedMediaType', 415, ['unsupported_media_type']],
  ['OrganizationRequired', 422, ['missing_required_field']],
  ['TooManyRequests', 429, ['rate_limit_exceeded']],
  ['InternalServerError', 500, ['internal_server_error']],
  ['BodyServerError', 500, ['internal_server_error', 'body_already_read']],
  ['ServiceUnavailable', 503, ['service_unavailable']],
]
const shared = new Map(SHARED.map(([name, status, codes]) => [keyOf(status, new Set(codes)), name]))

const retry_after = {
  type: 'integer',
  minimum: 1,
  description: 'In seconds, equal to the header Retry-After.',
}

/** Schemas of an error body, by format. */
export const errorSchemas: Readonly<Record<ErrorFormat, JsonObject>> = {
  nested: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        properties: {
          code: { type: 'string', description: 'Machine-readable and stable.' },
          message: { type: 'string', description: 'For people.' },
          details: {
            type: 'object',
            additionalProperties: true,
            description: 'Additional context, for example the invalid field.',
          },
          request_id: { type: 'string', pattern: '^req_', description: 'Equal to the header X-Request-Id.' },
          retry_after,
        },
      },
    },
  },
  flat: {
    type: 'object',
    required: ['error', 'code', 'statusCode'],
    properties: {
      error: { type: 'string', description: 'For people.' },
      code: { type: 'string', description: 'Machine-readable and stable.' },
      statusCode: { type: 'integer' },
    },
  },
}

/** Error responses of an operation, by status. */
export function errorResponses(route: Route, format: ErrorFormat): Readonly<Record<string, JsonObject>> {
  const responses: Record<string, JsonObject> = {}
  for (const [status, codes] of codesOf(route)) {
    const name = shared.get(keyOf(status, codes.keys()))
    responses[status] =
      name === undefined ? errorResponse(status, codes, format) : { $ref: `#/components/responses/${name}` }
  }
  return responses
}

export function sharedResponses(format: ErrorFormat): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    SHARED.map(([name, status, codes]) => [
      name,
      errorResponse(status, new Map(codes.map((code) => [code, entryOf(code).message])), format),
    ]),
  )
}

function codesOf(route: Route): Codes {
  const all = [
    ...ANY,
    ...(route.permission === 'public' ? [] : WITH_KEY),
    ...(route.body === undefined && route.raw === undefined && route.form === undefined ? [] : WITH_BODY),
    ...(route.belongsTo === 'organization' ? OF_ORGANIZATION : []),
    ...(route.belongsTo === 'operator' ? (['operator_key_required'] as const) : []),
    ...(route.unknown === undefined ? [] : [route.unknown]),
    ...(route.errors ?? []),
  ]
  const byStatus = new Map<number, Map<ErrorCode, string>>()
  for (const error of all) {
    const [code, status, message] = typeof error === 'string' ? [error, entryOf(error).status] : error
    const codes = byStatus.get(status) ?? new Map<ErrorCode, string>()
    byStatus.set(status, codes.set(code, message ?? entryOf(code).message))
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}

function keyOf(status: number, codes: Iterable<ErrorCode>): string {
  return `${status} ${[...codes].sort().join(' ')}`
}

function errorResponse(status: number, codes: Messages, format: ErrorFormat): JsonObject {
  const list = [...codes.keys()]
  const description = [...codes].map(([code, message]) => `- \`${code}\`: ${message}`).join('\n')
  const waits = status === 429 || list.some((code) => entryOf(code).retryable)
  const headers = [...(status === 401 ? ['WWW-Authenticate'] : []), ...(waits ? ['Retry-After'] : [])]
  return {
    description,
    headers: answerHeaders(headers),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            format === 'nested' ? nested(status, list) : flat(status, list),
          ],
        },
      },
    },
  }
}

function nested(status: number, codes: readonly string[]): JsonObject {
  const code = { type: 'string', enum: codes }
  const error =
    status === 429
      ? { required: ['retry_after'], properties: { code, retry_after } }
      : { properties: { code } }
  return { type: 'object', properties: { error: { type: 'object', ...error } } }
}

function flat(status: number, codes: readonly string[]): JsonObject {
  const upper = codes.map((code) => code.toUpperCase())
  return {
    type: 'object',
    properties: { code: { type: 'string', enum: upper }, statusCode: { const: status } },
  }
}
