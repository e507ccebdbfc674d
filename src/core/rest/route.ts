import type * as z from 'zod'
import type { Grant, Permission } from '../access/permissions.ts'
import type { AuditAction } from '../audit/actions.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { RouteLimit } from '../limits/model.ts'
import { REQUESTS } from '../limits/route-limits.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import type { Caller } from './caller.ts'
import type { HttpRequest } from './message.ts'
import type { JsonObject, OpenApiDocument } from './openapi.ts'
import type { ParsedQuery } from './query.ts'

/** A group of operations in the OpenAPI document. */
export interface Tag {
  readonly name: string
  readonly description: string
}

/** An error code of an operation: with the catalogue's status or another one, and the message if it is a plug-in's. */
export type RouteError = ErrorCode | readonly [code: ErrorCode, status: number, message?: string]

/** Headers that only some operations read. */
export type RequestHeader = 'Idempotency-Key' | 'X-Test-Mode'

/**
 * One operation of the REST API as data. The same table serves requests, generates the OpenAPI document and drives the
 * tests.
 *
 * Served: what its handler uses of the notifier. A list of routes of several features says `never`.
 */
export interface Route<Served = never> {
  /** Unique name in camel case. Also the default OpenAPI operation id. */
  readonly operation: string
  readonly summary: string
  readonly tag: Tag
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Equivalent patterns; `{name}` matches one segment. Under /admin the query parameter `orgId` is required. */
  readonly paths: readonly string[]
  /**
   * `caller`: concerns the key itself. `organization`: acts on resources of one organization; operator keys name it. `operator`: only operator keys may
   * call it. Absent: the route needs no key.
   */
  readonly belongsTo?: 'caller' | 'organization' | 'operator'
  /** True: operator keys may also name all organizations. */
  readonly allOrganizations?: true
  /** Lowest permission level that may call the operation. `public`: no key needed, none read. */
  readonly permission: Permission | 'public'
  /** Why a public operation is safe without a key, for the document: `the link is signed`. */
  readonly needsNoKey?: string
  /** Grants that the operation always requires. */
  readonly grants?: readonly Grant[]
  /** Query parameters that require a grant if `true`. */
  readonly queryGrants?: Readonly<Record<string, Grant>>
  /** Public routes count by address. Null: there, only requests that fail count, like those without a valid key. */
  readonly limit: RouteLimit | null
  /** Status of success. */
  readonly status: 200 | 201 | 202 | 302 | 303
  /** Error for a path parameter that cannot be an identifier. */
  readonly unknown?: ErrorCode
  /** Error codes in addition to those of every operation. */
  readonly errors?: readonly RouteError[]
  readonly requestHeaders?: readonly RequestHeader[]
  /** The entries that it makes in the audit log. Absent: none. */
  readonly audited?: readonly AuditAction[]
  /** True: the operation always delivers, so X-Test-Mode is refused instead of ignored. */
  readonly delivers?: true
  /** True: it cannot be undone, so X-Test-Mode and unknown query parameters are refused instead of ignored. */
  readonly irreversible?: true
  /** Schema of the query parameters, without `orgId`. */
  readonly query?: z.ZodType
  /** True: the handler reads the query as it came, so that no parameter is unknown. */
  readonly anyQuery?: true
  /**
   * Schema of the request body; absent: no body. The notifier validates with the same schema, so the HTTP layer does
   * not.
   */
  readonly body?: z.ZodType
  /** True: a missing body means `{}`. */
  readonly bodyOptional?: true
  /** True: the handler gets the raw bytes of the body of any type. */
  readonly raw?: true
  /** Checks the path before the body is read, on a route without a key. */
  readonly beforeBody?: (params: RequestContext['params'], notifier: Served) => Promise<void>
  /** Like `raw`, and also accepts the result of a host's form parser. */
  readonly form?: FormBody
  /** True: serves people and mail clients. Answers are pages, including 404 for invalid links. */
  readonly page?: true
  /** Size limit instead of `maxBodyBytes`: that of batches, a number of bytes, or one that the notifier knows. */
  readonly bodySize?: 'batch' | number | ((notifier: Served) => number)
  readonly response: z.ZodType
  /** Media type of the response instead of JSON. */
  readonly mediaType?: string
  /** An alternative to the response of `status` and `response`. */
  readonly otherwise?: { readonly status: 200 | 409; readonly when: string; readonly response: z.ZodType }
  /** Shown in the document. A test validates it. */
  readonly example?: { readonly request?: JsonObject; readonly response?: JsonObject }
  /** Descriptions of path parameters other than `id`. */
  readonly pathParameters?: Readonly<Record<string, string>>
  readonly handler: Handler<Served>
}

/** The body of an operation that reads a form. */
export interface FormBody {
  /** JSON schema of its fields, for the document. */
  readonly fields: JsonObject
  /** Statuses of the pages that answer a form without its fields. */
  readonly incomplete: readonly (400 | 415 | 422)[]
}

/** A route of a group. */
type Grouped<Served> = Omit<Route<Served>, 'tag' | 'limit' | 'status'> &
  Partial<Pick<Route, 'limit' | 'status'>>

/** Routes with what they have in common. Unless a route says otherwise, its success is 200, and {@link REQUESTS} limits it. */
export function routesOf<Served>(
  common: Pick<Route, 'tag' | 'belongsTo'>,
  routes: readonly Grouped<Served>[],
): readonly Route<Served>[] {
  return routes.map((route) => ({ limit: REQUESTS, status: 200, ...common, ...route }))
}

/** Calls the notifier, which holds all rules of the operation. */
export type Handler<Served> = (context: RequestContext, notifier: Served) => Promise<HandlerResult>

/** The methods of all organizations that a handler uses. */
export interface TenantsOf<Api> {
  readonly tenants: PerTenant<Api>
}

/** Validated input of a handler. */
export interface RequestContext {
  readonly request: HttpRequest
  /** Empty: the route belongs to no organization. `ALL_ORGANIZATIONS` only where the route takes it. */
  readonly organizationId: string
  /** Null: the route needs no key. */
  readonly caller: Caller | null
  /** Grants of the key. */
  readonly grants: readonly Grant[]
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: ParsedQuery
  /** Bytes of the body on a route with `raw` or `form`; empty otherwise. */
  readonly bytes: Uint8Array
  /** A JSON object, not yet validated. Empty on routes without a body. */
  readonly body: Readonly<Record<string, unknown>>
  /** True: nested unknown fields are refused too. Those of `body` itself already were. */
  readonly strict: boolean
  /** The OpenAPI document. */
  document(): OpenApiDocument
}

export interface HandlerResult {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged instead of JSON. */
  readonly text?: { readonly contentType: string; readonly content: string | Buffer }
  /** Sent as lines of JSON, as fast as the client reads. */
  readonly lines?: AsyncIterable<object>
  /** Replaces the route's status. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}
