import type * as z from 'zod'
import type { Permission } from '../core/access/permissions.ts'

/** What a handler of a route gets, validated. */
export interface PluginRequest<Body, Query> {
  readonly organizationId: string
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Body
  readonly query: Query
  /** The header `Idempotency-Key`, on a route that takes it. Undefined: it has none. */
  readonly idempotencyKey: string | undefined
}

/** An operation of the REST API that a plug-in adds, as {@link route} makes it. */
export interface PluginRoute<Body = unknown, Query = unknown> {
  /** Unique name in camel case, and the operation id of the OpenAPI document: `addReaction`. */
  readonly operation: string
  /** The operation in a few words, for the document. */
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /**
   * Begins with `/v1/` and the name of the plug-in; `{name}` matches one segment of 1 to 128 letters, digits, `_` and `-`:
   * `/v1/reactions/{id}`.
   */
  readonly path: string
  /** Lowest permission level of a key that may call it. */
  readonly permission: Permission
  /** Status of success. Default 200. */
  readonly status?: 200 | 201 | undefined
  /** Its own errors and those of Carillon's catalogue that it can answer, besides those of every operation. */
  readonly errors?: readonly string[] | undefined
  /** True: it reads the header `Idempotency-Key`, and must have no further effect when it is repeated. */
  readonly idempotencyKey?: true | undefined
  /** A Zod schema of a JSON object, without asynchronous checks. Absent: the request has no body. */
  readonly body?: z.ZodType<Body> | undefined
  readonly query?: z.ZodType<Query> | undefined
  /** Describes the answer in the OpenAPI document. Answers are not checked. */
  readonly response: z.ZodType
  /** Returns what is sent as JSON. Undefined: `{}`. */
  handler(request: PluginRequest<Body, Query>): unknown
}

/**
 * A route of a plug-in, whose handler gets what its schemas say.
 *
 * @example
 * const add = route({
 *   operation: 'addReaction',
 *   summary: 'React to a notification',
 *   method: 'POST',
 *   path: '/v1/reactions',
 *   permission: 'Write',
 *   status: 201,
 *   body: z.object({ notificationId: z.string().max(64), emoji: z.string().max(8) }),
 *   response: z.object({ id: z.string() }),
 *   handler: ({ organizationId, body }) => api.add(organizationId, body.notificationId, body.emoji),
 * })
 */
export function route<Body = undefined, Query = undefined>(
  definition: PluginRoute<Body, Query>,
): PluginRoute {
  return definition as PluginRoute
}
