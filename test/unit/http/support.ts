import type { ApiKeyRecord } from '../../../src/core/access/verify-key.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Served } from '../../../src/core/lifecycle/notifier-internals.ts'
import { VERSION } from '../../../src/core/lifecycle/version.ts'
import type { RateLimitState } from '../../../src/core/limits/model.ts'
import type { Logger } from '../../../src/core/ports/logger.ts'
import type { HttpRequest, HttpResponse } from '../../../src/core/rest/message.ts'
import type { ServedNotifier } from '../../../src/served-notifier.ts'

export interface TestRequest {
  method?: string
  path?: string
  query?: string
  remoteAddress?: string | undefined
  encrypted?: boolean
  aborted?: boolean
  headers?: Record<string, string>
  body?: string | Uint8Array
  parsedBody?: unknown
}

/** A neutral request: over TLS, with a key, unless something else is said. */
export function request(given: TestRequest = {}): HttpRequest {
  const headers: Record<string, string> = { authorization: 'Bearer key', ...given.headers }
  return {
    method: given.method ?? 'GET',
    path: given.path ?? '/v1/templates',
    query: given.query ?? '',
    remoteAddress: 'remoteAddress' in given ? given.remoteAddress : '198.51.100.7',
    encrypted: given.encrypted ?? true,
    aborted: given.aborted ?? false,
    bodyComplete: true,
    native: null,
    parsedBody: given.parsedBody,
    header: (name) => headers[name],
    headers: () => headers,
    afterResponse: (callback) => callback(),
    async readBody({ bytes: limit }) {
      const bytes = Buffer.from(given.body ?? '')
      if (bytes.length > limit) throw new NotifierError('payload_too_large')
      return bytes
    },
  }
}

export const KEY: ApiKeyRecord = {
  id: 'key_1',
  organizationId: 'org_default',
  name: 'test',
  permission: 'Full Access',
  hint: 'crl_…',
  expiresAt: null,
  allowedIps: [],
  grants: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUsedAt: null,
  replacedBy: null,
}

export const LIMIT: RateLimitState = { resource: 'requests', limit: 10, remaining: 9, resetAt: 1_800_000_000 }

/** A notifier of which only the given parts exist; using another one fails the test loudly. */
export function fakeNotifier(parts: {
  send?: ServedNotifier['tenants']['send']
  validate?: ServedNotifier['tenants']['validate']
  verify?: ServedNotifier['apiKeys']['verify']
  admit?: ServedNotifier['limits']['admit']
  templates?: Partial<ServedNotifier['tenants']['templates']>
  logger?: Pick<Logger, 'warn' | 'error'>
  answered?: (route: string, status: number) => void
}): Served {
  const missing = (): never => {
    throw new Error('a part of the notifier that the test did not expect')
  }
  const engine = {
    version: VERSION,
    tenants: {
      send: parts.send ?? missing,
      validate: parts.validate ?? missing,
      templates: { list: missing, create: missing, get: missing, delete: missing, ...parts.templates },
    },
    apiKeys: { verify: parts.verify ?? (async () => KEY) },
    limits: {
      admit: parts.admit ?? (async () => ({ state: LIMIT, release: async () => {} })),
      closed: () => ({ ...LIMIT, resource: 'service' }),
    },
    routes: [],
    reporting: { logger: parts.logger ?? null, requestBegan: () => parts.answered ?? (() => {}) },
  }
  return { internals: engine }
}

export const emptyList = { items: [], limit: 50, offset: 0, hasMore: false, nextCursor: null }

/** The parsed body of an answer. */
export function json(response: HttpResponse | null): Record<string, unknown> {
  return JSON.parse(String(response?.body ?? null))
}
