import type * as z from 'zod'
import type { Grant, Permission } from '../../domain/api-key.ts'
import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { LimitedResource } from '../../services/limits/records.ts'
import type { Service } from '../../services/service.ts'
import type { HttpRequest } from '../message.ts'
import type { OpenApiDocument } from '../openapi/types.ts'
import type { Query } from '../query.ts'

/** Groups of operations, in the order in which the document shows them. */
export const TAGS = {
  Notifications: 'Send notifications and follow what becomes of them.',
  'Dead letters': 'Notifications that failed, and their retry.',
  Templates: 'Reusable texts with `{{variable}}` placeholders.',
  Logs: 'The delivery log.',
  Account: 'Limits and their use.',
  'API keys': 'Who may call this API.',
  Webhooks: 'Endpoints that are told about deliveries.',
  Suppressions: 'Recipients that nothing is sent to.',
  Organizations: 'The tenants. Only operator keys reach them.',
  Receipts: 'Reports of providers, proven by signatures.',
  Pages: 'What links in messages lead to; the links are signed.',
  Service: 'The service itself; no API key is needed.',
} as const

/** A code that an operation answers with, by the catalogue's status or by another one. */
export type RouteError = ErrorCode | readonly [code: ErrorCode, status: number]

/** Headers that only some operations read. */
export type RequestHeader = 'Idempotency-Key' | 'X-Test-Mode'

/**
 * One operation of the REST API, as data: the same table serves requests, describes the API (OpenAPI) and drives
 * the tests.
 */
export interface Route {
  /** Unique name in camel case. */
  readonly operation: string
  readonly summary: string
  readonly tag: keyof typeof TAGS
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Patterns that mean the same; `{name}` stands for one segment. Under /admin the query `orgId` is required. */
  readonly paths: readonly string[]
  /**
   * `organization`: its resources; an operator key names one. `operator`: operator keys alone may call it. Left out where no
   * key is needed.
   */
  readonly belongsTo?: 'organization' | 'operator'
  /** The lowest level of key that may call it; `public`: no key is needed, none is looked at. */
  readonly permission: Permission | 'public'
  /** Query parameters that need a grant of the key where they are `true`. */
  readonly queryGrants?: Readonly<Record<string, Grant>>
  /** Which request limit holds; routes that name the same share it. Public routes are limited by address. */
  readonly limit: LimitedResource
  /** Status of success. */
  readonly status: 200 | 201 | 302
  /** What a path parameter that can be no identifier is answered with. */
  readonly unknown?: ErrorCode
  /** Codes of its own, beside those that any operation can answer with. */
  readonly errors?: readonly RouteError[]
  readonly requestHeaders?: readonly RequestHeader[]
  /** True: it sends something and cannot only validate, so X-Test-Mode is refused and not ignored. */
  readonly delivers?: true
  /** Query parameters, beside `orgId`. */
  readonly query?: z.ZodType
  /** Present: the request has a body. The notifier validates by the same schema, so the core does not. */
  readonly body?: z.ZodType
  /** True: no body means `{}`. */
  readonly bodyOptional?: true
  /** True: the handler gets the bytes of the body as they came, whatever their type. */
  readonly raw?: true
  /** Judges the path before the body is read, for a route that needs no key. */
  readonly beforeBody?: (params: RequestContext['params'], service: Service) => Promise<void>
  /** True: as `raw`, and also what a parser of the host has made of a form. */
  readonly form?: true
  /** True: for people and their mail programs. Answers are no JSON, also that a link is not one of ours (404). */
  readonly page?: true
  /** Another size limit than `maxBodyBytes`: that of batches, or a lower one in bytes where few are enough. */
  readonly bodySize?: 'batch' | number
  readonly response: z.ZodType
  /** Another success than `status` and `response`. */
  readonly otherwise?: { readonly status: 200; readonly when: string; readonly response: z.ZodType }
  readonly handler: Handler
}

/** Calls the notifier. All rules of the operation itself are there, none is here. */
export type Handler = (context: RequestContext, service: Service) => Promise<HandlerResult>

/** What a handler gets: everything in it has been checked. */
export interface RequestContext {
  readonly request: HttpRequest
  /** Empty for routes that belong to no organization. */
  readonly organizationId: string
  /** Of the key. */
  readonly grants: readonly Grant[]
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** What a route that asks for it raw was sent; empty for others. */
  readonly bytes: Uint8Array
  /** A JSON object of any content; empty for routes without a body. */
  readonly body: Readonly<Record<string, unknown>>
  /** Unknown fields are refused; of `body` itself they have been. */
  readonly strict: boolean
  /** The description of the API. */
  document(): OpenApiDocument
}

export interface HandlerResult {
  /** The organization that was created: the path could not name it. For the log. */
  readonly organizationId?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of JSON. */
  readonly text?: { readonly contentType: string; readonly content: string | Buffer }
  /** Replaces the route's status. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}
