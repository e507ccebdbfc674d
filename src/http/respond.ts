import type { NotifierError } from '../core/errors/notifier-error.ts'
import type { RateLimitState } from '../core/limits/model.ts'
import type { HttpResponse } from '../core/rest/message.ts'
import type { HandlerResult } from '../core/rest/route.ts'
import { type ErrorFormat, errorAnswer } from './errors.ts'

/** The common part of every answer to a request. */
export interface Envelope {
  readonly requestId: string
  /** True: the request came over HTTPS. */
  readonly secure: boolean
  /** True: HEAD, answered like GET without the body. */
  readonly bodiless: boolean
  /** Ignored query parameters, as the value of X-Ignored-Parameters. Empty: none. */
  readonly ignored: string
  /** The limit in the rate headers. */
  readonly limit: RateLimitState
}

/** The media type of lines of JSON. */
const LINES_TYPE = 'application/x-ndjson'

/**
 * The answer to a successful request.
 *
 * @param lines the body instead of that of the result
 */
export function successResponse(
  envelope: Envelope,
  status: number,
  result: HandlerResult,
  lines?: AsyncIterable<Buffer>,
): HttpResponse {
  const { text } = result
  if (lines !== undefined) {
    const headers = { 'Content-Type': LINES_TYPE, ...result.headers }
    return toResponse(envelope, result.status ?? status, lines, headers)
  }
  if (text === undefined) {
    return toResponse(envelope, result.status ?? status, JSON.stringify(result.body), result.headers)
  }
  const headers = { 'Content-Type': text.contentType, ...result.headers }
  return toResponse(envelope, result.status ?? status, text.content, headers)
}

/** The answer to a failed request. `error` comes from `publicError`. */
export function errorResponse(envelope: Envelope, error: NotifierError, format: ErrorFormat): HttpResponse {
  const { status, body, retryAfter } = errorAnswer(error, envelope.requestId, format)
  const headers: Record<string, string> = {}
  if (retryAfter !== null) headers['Retry-After'] = String(retryAfter)
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (error.code === 'method_not_allowed') headers.Allow = String(error.details?.allow)
  return toResponse({ ...envelope, limit: refusingLimit(error) ?? envelope.limit }, status, body, headers)
}

function toResponse(
  { requestId, secure, bodiless, ignored, limit }: Envelope,
  status: number,
  body: Exclude<HttpResponse['body'], null>,
  more: Readonly<Record<string, string>> | undefined,
): HttpResponse {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json; charset=utf-8',
    ...(isWhole(body) ? { 'Content-Length': String(Buffer.byteLength(body)) } : {}),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  }
  if (secure) headers['Strict-Transport-Security'] = 'max-age=31536000'
  if (ignored !== '') headers['X-Ignored-Parameters'] = ignored
  addRateHeaders(headers, limit)
  if (more !== undefined) Object.assign(headers, more)
  return { status, headers, body: bodiless ? null : body }
}

function isWhole(body: HttpResponse['body']): body is string | Buffer {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** Adds the headers of the limit that is closest to a refusal. */
function addRateHeaders(headers: Record<string, string>, state: RateLimitState): void {
  headers['X-RateLimit-Limit'] = String(state.limit)
  headers['X-RateLimit-Remaining'] = String(state.remaining)
  headers['X-RateLimit-Reset'] = String(state.resetAt)
  headers['X-RateLimit-Resource'] = state.resource
}

/** The limit in the details of a refusal. Null: no limit refused the request. */
function refusingLimit({ status, details }: NotifierError): RateLimitState | null {
  if (status !== 429 || details === undefined) return null
  const { resource, limit, remaining, resetAt } = details
  if (typeof resource !== 'string' || typeof limit !== 'number' || typeof resetAt !== 'number') return null
  return { resource, limit, remaining: typeof remaining === 'number' ? remaining : 0, resetAt }
}
