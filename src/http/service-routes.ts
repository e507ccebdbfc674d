import * as z from 'zod'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { PUBLIC } from '../core/limits/route-limits.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import { named } from '../core/rest/named.ts'
import type { HandlerResult, RequestContext, Route, Tag } from '../core/rest/route.ts'

/** Response of a service that accepts requests. Other services answer with an error. */
const healthStatus: z.ZodType<{ status: 'ok' | 'degraded' }> = named(
  'Health',
  z.object({
    status: z
      .enum(['ok', 'degraded'])
      .describe('`degraded`: requests are accepted, but part of the delivery does not work.'),
  }),
)

/** An OpenAPI 3.1 document, described by its top level only. */
const openApiDocument: z.ZodType = z.looseObject({ openapi: z.string(), paths: z.looseObject({}) })

export const SERVICE_TAG: Tag = { name: 'Service', description: 'The service itself. Requires no API key.' }

/**
 * Details of a degraded state are for operators (`notifier.health()`). A degraded service accepts requests, so a load
 * balancer must keep it: 200.
 */
async function health(
  _context: RequestContext,
  notifier: Pick<HttpNotifier, 'health'>,
): Promise<HandlerResult> {
  const { status } = await notifier.health()
  if (status === 'unavailable') throw new NotifierError('service_unavailable', { retryAfterMs: 5_000 })
  return { body: { status } }
}

async function describe({ document }: RequestContext): Promise<HandlerResult> {
  return { body: document() }
}

export const serviceRoutes: readonly Route<Pick<HttpNotifier, 'health'>>[] = [
  {
    operation: 'getHealth',
    summary: 'Check whether the service accepts requests',
    tag: SERVICE_TAG,
    method: 'GET',
    paths: ['/health'],
    permission: 'public',
    limit: PUBLIC,
    status: 200,
    response: healthStatus,
    handler: health,
  },
  {
    operation: 'getOpenApi',
    summary: 'Get this document',
    tag: SERVICE_TAG,
    method: 'GET',
    paths: ['/openapi.json'],
    permission: 'public',
    limit: PUBLIC,
    status: 200,
    response: openApiDocument,
    handler: describe,
  },
]
