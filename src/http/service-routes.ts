import { NotifierError } from '../core/errors/notifier-error.ts'
import { PUBLIC } from '../core/limits/route-limits.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import type { HandlerResult, RequestContext, Route, Tag } from '../core/rest/route.ts'
import { healthStatus, openApiDocument } from './service-schemas.ts'

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
