import { addressOf } from './base.ts'
import { namedOrganization, type Query } from './router.ts'

/** An answer that tells of an error, or none at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null
  /** Seconds to wait. Zero: the server names none. */
  readonly retryAfter: number

  constructor(status: number, body: unknown) {
    const { error } = (body ?? {}) as { error?: ErrorBody | string }
    const told: ErrorBody = typeof error === 'object' ? error : {}
    super(told.message ?? (typeof error === 'string' ? error : ''))
    this.status = status
    this.code = told.code ?? (status === 0 ? 'unreachable' : 'unknown')
    this.details = told.details ?? {}
    this.requestId = told.request_id ?? null
    this.retryAfter = told.retry_after ?? 0
  }
}

interface ErrorBody {
  readonly code?: string
  readonly message?: string
  readonly details?: Record<string, unknown>
  readonly request_id?: string
  readonly retry_after?: number
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly query?: Query
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** True: the answer is a file. */
  readonly file?: true
}

/** Called when the session has ended. */
let ended = (): void => {}

export function onSessionEnd(listener: () => void): void {
  ended = listener
}

/**
 * Asks the server, about the organization that the address names. Paths of the REST API begin with `/v1`.
 *
 * @throws ApiError
 */
export async function ask<Answer>(path: string, given: Ask = {}): Promise<Answer> {
  const { method = 'GET', query = {}, body, headers = {}, signal, file } = given
  const organization = namedOrganization.peek()
  const url = new URL(addressOf(path.startsWith('/v1/') ? `/api${path}` : path))
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(organization === null ? {} : { 'X-Organization-ID': organization }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, null)
  })
  const answer: unknown =
    file && response.ok ? await response.blob() : await response.json().catch(() => null)
  if (response.ok) return answer as Answer
  const error = new ApiError(response.status, answer)
  if (error.code === 'session_required') ended()
  throw error
}
