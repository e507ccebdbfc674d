import type { JsonObject } from '../../core/rest/openapi.ts'

const integer = { type: 'integer', minimum: 0 }

/** Response headers by name. */
export const HEADERS: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': {
    description: 'Id of this request, for support.',
    required: true,
    schema: { type: 'string', pattern: '^req_[\\w-]+$' },
  },
  'X-RateLimit-Limit': {
    description: 'Most requests in the window; 2147483647 without a limit, 0 during an outage.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Remaining': {
    description: 'Remaining requests in the window.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Reset': {
    description: 'Unix time at which the limit resets.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Resource': {
    description:
      'Name of the limit that is closest to a refusal; `unlimited` without a limit, `service` during an outage.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Ignored-Parameters': {
    description:
      'Ignored query parameters, percent-encoded and separated by commas, at most ten. Absent: none.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: 'Present if this is the stored answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
}

const ALWAYS = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Resource',
  'X-Ignored-Parameters',
]

/** References to the headers of every answer, plus `more`. */
export function answerHeaders(more: readonly string[] = []): JsonObject {
  return Object.fromEntries(
    [...ALWAYS, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}
