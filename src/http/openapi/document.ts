import { VERSION } from '../../core/lifecycle/version.ts'
import type { OpenApiDocument, Operation } from '../../core/rest/openapi.ts'
import type { Route } from '../../core/rest/route.ts'
import type { ErrorFormat } from '../errors.ts'
import { errorSchemas, sharedResponses } from './errors.ts'
import { HEADERS } from './headers.ts'
import { operationOf, PARAMETERS } from './operation.ts'
import { componentSchemas, type DocumentedNotifier } from './schemas.ts'

/** Builds the OpenAPI 3.1 document from the table of routes and the schemas that validate requests. */
export function openApiDocument(
  routes: readonly Route[],
  notifier: DocumentedNotifier,
  options: { readonly errorFormat: ErrorFormat; readonly strictBody: boolean },
): OpenApiDocument {
  const { errorFormat, strictBody } = options
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) {
    for (const path of route.paths) {
      const methods = paths[path] ?? {}
      methods[route.method.toLowerCase()] = operationOf(route, path, errorFormat)
      paths[path] = methods
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carillon',
      version: VERSION,
      description: 'Sends notifications over several channels and manages templates and delivery logs.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the address of this document, below the mount.
    servers: [{ url: '.', description: 'The server of this document.' }],
    security: [{ apiKey: [] }, { operatorKey: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: { ...componentSchemas(strictBody, notifier), Error: errorSchemas[errorFormat] },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedResponses(errorFormat),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: "An organization's API key: `Authorization: Bearer crl_…`.",
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An operator key, which belongs to no organization: `Authorization: Bearer crlop_…`. Requests for resources of an organization name it in `X-Organization-ID` or `orgId`.',
        },
      },
    },
  }
}
