import type { JsonObject } from './types.ts'

const integer = { type: 'integer', minimum: 0 }

/** Response headers by name. */
export const HEADERS: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': {
    description: 'Names this request, for support.',
    required: true,
    schema: { type: 'string', pattern: '^req_[\\w-]+$' },
  },
  'X-RateLimit-Limit': {
    description: 'Maximum requests in the window; 2147483647 where nothing is limited, 0 during an outage.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the window.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp when the limit resets.',
    required: true,
    schema: integer,
  },
  'X-RateLimit-Resource': {
    description:
      'Which limit it is: the one that is nearest to a refusal; `unlimited` where there is none, `service` during an outage.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Ignored-Parameters': {
    description:
      'Query parameters that the operation does not read, percent-encoded and separated by commas; at most ten. Absent: all were read.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: 'Present when an earlier request with the same Idempotency-Key got this answer.',
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
