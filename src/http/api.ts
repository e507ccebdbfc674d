import { permits } from '../core/access/permissions.ts'
import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
import { knownFields } from '../core/input/known-fields.ts'
import type { Admission, BodyOwner, Counted, RouteLimit } from '../core/limits/model.ts'
import { REQUESTS } from '../core/limits/route-limits.ts'
import { atEndOfTurn } from '../core/loop/end-of-turn.ts'
import type { RunInSlices } from '../core/loop/processor.ts'
import type { Logger } from '../core/ports/logger.ts'
import type { Caller } from '../core/rest/caller.ts'
import { assertGranted, requiredGrants } from '../core/rest/grants.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import type { BodyLimits, HttpRequest, HttpResponse } from '../core/rest/message.ts'
import type { Query } from '../core/rest/query.ts'
import type { HandlerResult, Route } from '../core/rest/route.ts'
import { refuseTestMode } from '../core/rest/send-headers.ts'
import { assertSameOrganization } from '../core/tenancy/scope.ts'
import { authorOf } from './author.ts'
import { type Authenticate, authenticateKey } from './caller.ts'
import { acceptsScheme, type Client, httpsRequired, resolveClient } from './client.ts'
import { publicError } from './errors.ts'
import { readForm, readJsonObject, readRaw } from './json-body.ts'
import { lineStream } from './line-stream.ts'
import { createOpenBodies } from './open-bodies.ts'
import { openApiDocument } from './openapi/document.ts'
import { type HttpApiOptions, type ResolvedHttpOptions, resolveHttpOptions } from './options.ts'
import { organizationOf } from './organization.ts'
import { processWarnings } from './process-warnings.ts'
import { ignoredHeader, ignoredParameters, parseQuery, unknownParameters, withObjects } from './query.ts'
import { createRequestIds } from './request-id.ts'
import { type Envelope, errorResponse, successResponse } from './respond.ts'
import { compileRoutes, type Match, type RouteMatch } from './router.ts'

/** An HTTP application that is independent of any framework: the REST API or the dashboard. */
export interface HttpApi {
  /** First segments of its paths. Null: every path belongs to it. */
  readonly families: readonly string[] | null
  /** Answers a request. Null: the path is not part of the API. The promise never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse> | null
}

/** State of one request while it is processed. */
interface Exchange extends Omit<Envelope, 'limit' | 'ignored'> {
  ignored: string
  /** Null: the request failed before a limit was checked. */
  limit: Envelope['limit'] | null
  release: Admission['release'] | null
}

/** A request that passed authentication. */
interface Entry {
  readonly permitted: RouteMatch
  /** Null: the route needs no key. */
  readonly caller: Caller | null
  /**
   * Checks the key again. Null: the key was checked after the body arrived, or the route needs no key.
   *
   * @throws NotifierError as for a new request
   */
  readonly confirmKey: (() => Promise<unknown>) | null
}

/** Data about a request before its body is read. */
interface RequestHead {
  readonly organizationId: string
  readonly query: Query
  readonly grants: Caller['grants']
}

/** Answer to a client that has disconnected. */
const CLIENT_CLOSED: HttpResponse = Object.freeze({ status: 499, headers: {}, body: null })

/** Whether work has ended because its client is gone. */
function hasLeft(request: HttpRequest, error: unknown): boolean {
  return request.aborted && error instanceof DOMException && error.name === 'AbortError'
}
/** From so many characters or bytes on, a response holds its slot until it has left. */
const LARGE_RESPONSE = 64 * 1024
const NO_BODY = Object.freeze({})
const NO_BYTES = new Uint8Array()

/**
 * Creates an HTTP application of routes over a notifier. All work that does not depend on a request happens here, once.
 *
 * @param authenticate default: by API key
 * @throws NotifierError `invalid_configuration`
 */
export function createApi<Served extends HttpNotifier>(
  notifier: Served,
  routes: readonly Route<Served>[],
  options: HttpApiOptions = {},
  authenticate?: Authenticate,
): HttpApi {
  const callerOf = authenticate ?? authenticateKey(notifier)
  const resolved = resolveHttpOptions(options)
  const { reporting } = notifier
  const logger = reporting.logger ?? processWarnings
  const findRoute = compileRoutes(routes)
  const together = routes.flatMap(({ operation, allOrganizations }) => (allOrganizations ? operation : []))
  const openBodies = createOpenBodies(notifier.limits)
  const newRequestId = createRequestIds()
  const document = once(() => openApiDocument(routes, notifier, resolved))

  async function answer(request: HttpRequest, match: Match): Promise<HttpResponse> {
    const answered = reporting.requestBegan()
    const client = resolveClient(request, resolved.trusted)
    const exchange: Exchange = {
      requestId: newRequestId(),
      secure: client.secure,
      bodiless: request.method === 'HEAD',
      ignored: '',
      limit: null,
      release: null,
    }
    let size = 0
    try {
      const entry = isPublic(match)
        ? await admitPublic(request, client, exchange, match)
        : await authorize(request, client, exchange, match)
      const result = await perform(request, client, exchange, entry)
      if (result === null) {
        answered(operationOf(match), CLIENT_CLOSED.status)
        return CLIENT_CLOSED
      }
      const lines = await linesOf(request, exchange, result)
      const response = successResponse(envelopeOf(exchange), entry.permitted.route.status, result, lines)
      answered(operationOf(match), response.status)
      size = sizeOf(response)
      return response
    } catch (caught) {
      if (hasLeft(request, caught)) {
        answered(operationOf(match), CLIENT_CLOSED.status)
        return CLIENT_CLOSED
      }
      const error = await countFailure(exchange, match, client, caught)
      const shown = publicError(error)
      if (shown.status >= 500) report(logger, shown, error, request, exchange.requestId)
      const response = errorResponse(envelopeOf(exchange, shown), shown, resolved.errorFormat)
      answered(operationOf(match), response.status)
      return response
    } finally {
      release(exchange, request, size)
    }
  }

  /** The body of an answer in lines. It holds its slot until it ends. */
  async function linesOf(
    request: HttpRequest,
    exchange: Exchange,
    { lines }: HandlerResult,
  ): Promise<AsyncIterable<Buffer> | undefined> {
    if (lines === undefined) return
    const { requestId, release: free } = exchange
    const body = await lineStream(lines, (failure) => {
      if (failure !== undefined && !hasLeft(request, failure.error))
        report(logger, publicError(failure.error), failure.error, request, requestId)
      release({ ...exchange, release: free }, request, 0)
    })
    exchange.release = null
    return body
  }

  /** A client that leaves large responses unread can keep no more of them in memory than it has slots. */
  function release({ requestId, release: free }: Exchange, request: HttpRequest, size: number): void {
    if (free === null) return
    // The answer does not wait for it: an unreleased slot expires.
    const done = (): void => {
      free().catch((error: unknown) => {
        logger.warn('A concurrency slot could not be released.', { requestId, error })
      })
    }
    if (size < LARGE_RESPONSE) done()
    else request.afterResponse(done)
  }

  /** Every answer carries the headers of a limit. If no limit could be checked, they show an exhausted one. */
  function envelopeOf(exchange: Exchange, error?: NotifierError): Envelope {
    exchange.limit ??= notifier.limits.closed(error?.retryAfterMs ?? 1_000)
    return exchange as Envelope
  }

  /** On a route without a limit, unproven requests count by address, like those without a valid key. */
  async function countFailure(
    exchange: Exchange,
    match: Match,
    client: Client,
    error: unknown,
  ): Promise<unknown> {
    // A storage failure or a limit does not discredit the sender.
    const unproven = isNotifierError(error) && error.status < 500 && error.status !== 429
    if (match.kind !== 'route' || match.route.limit !== null || !unproven) return error
    try {
      await exchange.release?.()
      exchange.release = null
      await count(exchange, { address: client.address ?? 'unknown' }, REQUESTS)
      return error
    } catch (refusal) {
      return refusal
    }
  }

  /** Admits a request without a key, over HTTPS and within the limit of its address. */
  async function admitPublic(
    request: HttpRequest,
    client: Client,
    exchange: Exchange,
    permitted: RouteMatch,
  ): Promise<Entry> {
    await count(exchange, { address: client.address ?? 'unknown' }, permitted.route.limit)
    if (!acceptsScheme(resolved.https, client, request)) throw httpsRequired(request, resolved.trusted)
    return { permitted, caller: null, confirmKey: null }
  }

  async function authorize(
    request: HttpRequest,
    client: Client,
    exchange: Exchange,
    match: Match,
  ): Promise<Entry> {
    let arrived = !hasBody(match)
    // The key lookup runs at the end of this turn. A body that shares a packet with its head has arrived by then.
    if (!arrived) {
      atEndOfTurn(() => {
        arrived = request.bodyComplete
      }, 0)
    }
    const caller = await identify(request, client, exchange)
    await count(exchange, caller.counted, limitOf(match))
    return {
      permitted: permittedRoute(match, caller),
      caller,
      confirmKey: arrived ? null : async () => permittedRoute(match, await callerOf(request, client)),
    }
  }

  /**
   * Identifies the caller. Requests without a valid key count against their address. That slows down guessing, and a
   * leaked key used from outside its IP list consumes nothing of its organization's limit.
   */
  async function identify(request: HttpRequest, client: Client, exchange: Exchange): Promise<Caller> {
    try {
      if (!acceptsScheme(resolved.https, client, request)) throw httpsRequired(request, resolved.trusted)
      return await callerOf(request, client)
    } catch (error) {
      if (isNotifierError(error) && error.status < 500) {
        await count(exchange, { address: client.address ?? 'unknown' }, REQUESTS)
      }
      throw error
    }
  }

  /** @throws NotifierError `rate_limit_exceeded` */
  async function count(exchange: Exchange, who: Counted, limit: RouteLimit | null): Promise<void> {
    const admission = await notifier.limits.admit(who, limit)
    exchange.limit = admission.state
    exchange.release = admission.release
  }

  /** Runs the request after authorization. Null: the client left before anything changed. */
  async function perform(
    request: HttpRequest,
    client: Client,
    exchange: Exchange,
    entry: Entry,
  ): Promise<HandlerResult | null> {
    const { permitted, caller } = entry
    const { route, valid } = permitted
    const query = queryOf(request, exchange, route)
    const organizationId = await organizationOf(request, query, permitted, caller, notifier, together)
    const grants = caller?.grants ?? []
    const needed = requiredGrants(route, query)
    assertGranted(needed, grants)
    if (!valid) throw new NotifierError(route.unknown ?? 'not_found')
    if (route.delivers === true || route.irreversible === true) refuseTestMode(request)
    const limits = bodyLimits(resolved, route as Route<Served>, notifier)
    const work = (bounds: BodyLimits) =>
      handled(request, client, entry, { organizationId, query, grants }, bounds)
    const isRecorded =
      caller !== null && route.audited !== undefined && (route.method !== 'GET' || needed.length > 0)
    const answer = isRecorded
      ? (bounds: BodyLimits) => notifier.onBehalfOf(authorOf(caller, client, request), () => work(bounds))
      : work
    return route.bodySize === 'batch'
      ? openBodies.answerBatch(request, organizationId, limits, answer)
      : answer(limits)
  }

  /** Reads the body, and runs the handler. */
  async function handled(
    request: HttpRequest,
    client: Client,
    { permitted, caller, confirmKey }: Entry,
    { organizationId, query, grants }: RequestHead,
    limits: BodyLimits,
  ): Promise<HandlerResult | null> {
    const { route, params } = permitted
    const share: RunInSlices = (steps) => notifier.processor.share(organizationId)(steps)
    const given = await readObject(request, route, limits, share, confirmKey)
    if (organizationId !== '') assertSameOrganization(given, organizationId)
    const owner = caller === null ? { address: client.address ?? 'unknown' } : { organizationId }
    const bytes = await readBytes(request, owner, permitted, limits)
    if (route.body === undefined) await confirmKey?.()
    if (request.aborted) return null
    const strict = resolved.strictBody
    const body = knownFields(route.body, given, strict)
    const parsed = { params, query: withObjects(query, route), body, bytes }
    const context = { request, organizationId, caller, grants, ...parsed, strict, document }
    return (route as Route<Served>).handler(context, notifier)
  }

  function queryOf(request: HttpRequest, exchange: Exchange, route: Route): Query {
    const query = parseQuery(request.query)
    const ignored = ignoredParameters(query, route)
    if (ignored.length > 0) {
      // Mail clients and scanners add parameters to links.
      const isRefused = route.irreversible === true || (resolved.strictBody && route.page !== true)
      if (isRefused) throw unknownParameters(ignored, route)
      exchange.ignored = ignoredHeader(ignored)
    }
    return query
  }

  async function readBytes(
    request: HttpRequest,
    owner: BodyOwner,
    { route, params }: RouteMatch,
    limits: BodyLimits,
  ): Promise<Uint8Array> {
    if (route.raw !== true && route.form === undefined) return NO_BYTES
    // A body that shares a packet with its head never counts as open.
    if (!request.bodyComplete) await new Promise<void>((resolve) => atEndOfTurn(resolve, 0))
    if (!request.bodyComplete) await (route as Route<Served>).beforeBody?.(params, notifier)
    const read = route.raw === true ? readRaw : readForm
    return openBodies.read(request, owner, limits, (bounds) => read(request, bounds))
  }

  return {
    families: [...new Set(routes.flatMap(({ paths }) => paths.map((path) => path.split('/')[1] ?? '')))],
    handle(request) {
      const match = findRoute(request.method, request.path)
      return match === null ? null : answer(request, match)
    },
  }
}

/** Reads the JSON body of a route that has one, then checks the key again. */
async function readObject(
  request: HttpRequest,
  { body, bodyOptional }: Route,
  limits: BodyLimits,
  share: RunInSlices,
  confirmKey: Entry['confirmKey'],
): Promise<Readonly<Record<string, unknown>>> {
  if (body === undefined) return NO_BODY
  const read = await readJsonObject(request, limits, share, bodyOptional)
  await confirmKey?.()
  return read
}

function hasBody(match: Match): boolean {
  if (match.kind !== 'route' || match.route.permission === 'public') return false
  return match.route.body !== undefined || match.route.raw === true
}

function isPublic(match: Match): match is RouteMatch {
  return match.kind === 'route' && match.route.permission === 'public'
}

function sizeOf({ body }: HttpResponse): number {
  return typeof body === 'string' || body instanceof Uint8Array ? body.length : 0
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function operationOf(match: Match): string {
  return match.kind === 'route' ? match.route.operation : 'unknown'
}

function limitOf(match: Match): RouteLimit | null {
  return match.kind === 'route' ? match.route.limit : REQUESTS
}

function bodyLimits<Served>(
  options: ResolvedHttpOptions,
  { bodySize }: Route<Served>,
  notifier: Served,
): BodyLimits {
  const { maxBatchBytes, maxBodyBytes, bodyTimeoutMs: timeoutMs } = options
  if (bodySize === 'batch') return { bytes: maxBatchBytes, timeoutMs }
  if (typeof bodySize === 'function') return { bytes: bodySize(notifier), timeoutMs }
  return { bytes: Math.min(maxBodyBytes, bodySize ?? maxBodyBytes), timeoutMs }
}

function report(
  logger: Pick<Logger, 'warn' | 'error'>,
  shown: NotifierError,
  error: unknown,
  request: HttpRequest,
  requestId: string,
): void {
  const fields = { requestId, method: request.method, path: request.path, error }
  if (shown.code !== 'service_unavailable') logger.error('A request failed unexpectedly.', fields)
  else if (isNotifierError(error) && error.code === 'not_started')
    logger.error('A request failed: the notifier has not started.', fields)
  else logger.warn('A request failed: the service is unavailable.', fields)
}

/** @throws NotifierError `not_found`, `method_not_allowed`, `operator_key_required`, `insufficient_permissions` */
function permittedRoute(match: Match, { permission: granted, organizations }: Caller): RouteMatch {
  if (match.kind === 'unknown') throw new NotifierError('not_found')
  if (match.kind === 'method')
    throw new NotifierError('method_not_allowed', { details: { allow: match.allow } })
  const { permission: required, belongsTo } = match.route
  if (belongsTo === 'operator' && organizations !== 'all') throw new NotifierError('operator_key_required')
  if (required !== 'public' && !permits(granted, required)) {
    throw new NotifierError('insufficient_permissions', { details: { required, granted } })
  }
  return match
}
