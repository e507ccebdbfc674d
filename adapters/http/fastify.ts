import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'
import { serve } from '../../src/rest-api.ts'
import { NodeHttpRequest } from './node-request.ts'
import { isPlainAnswer, keepHostPolicy, nodeBody, writeNodeResponse } from './node-response.ts'
import { withoutOrigin } from './target.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'

/** The members in use of a Fastify 5 request. */
export interface FastifyRequest {
  readonly raw: IncomingMessage
  readonly mediaType?: string | undefined
  readonly body?: unknown
  readonly rawBody?: unknown
  headers: object
}

/** The members in use of a Fastify 5 reply. */
export interface FastifyReply {
  readonly raw: ServerResponse
  code(status: number): unknown
  headers(values: Record<string, string>): unknown
  getHeaders(): Record<string, number | string | string[] | undefined>
  hasHeader(name: string): boolean
  send(payload: string | Buffer | Readable | null): unknown
  hijack(): unknown
  callNotFound(): unknown
}

/** The members in use of a Fastify 5 instance. */
export interface FastifyScope {
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: never, payload: never, done: ParserDone) => void,
  ): unknown
  addHook(name: 'onRequest', hook: (request: FastifyRequest) => Promise<void>): unknown
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): unknown
}

type ParserDone = (error: Error | null, body?: unknown) => void

/** A plugin for Fastify 5, typed structurally so that the declarations do not need Fastify. */
export type NotifierPlugin = (scope: FastifyScope, options: object) => Promise<void>

/**
 * The REST API or the dashboard as an encapsulated Fastify plugin. It reads request bodies itself and leaves the application's parsers,
 * hooks and error handlers alone. The application's hooks run before it.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * fastify.register(notifierPlugin(notifier), { prefix: '/notifications' })
 */
export function notifierPlugin(notifier: Served, options?: HttpApiOptions): NotifierPlugin {
  const api = serve(notifier, options)

  async function carillon(scope: FastifyScope): Promise<void> {
    const depth = scope.prefix.split('/').filter((segment) => segment !== '').length
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.addHook('onRequest', skipFastifysCheck)
    // Requests for other paths never reach the API, regardless of the application's routes.
    for (const family of api.families ?? ['']) {
      scope.all(`/${family}`, answer)
      scope.all(family === '' ? '/*' : `/${family}/*`, answer)
    }

    async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const { raw: req } = request
      const res = reply.raw
      const pending = api.handle(
        new NodeHttpRequest(req, res, skipSegments(req.url ?? '/', depth), request, request),
      )
      if (pending === null) {
        reply.callNotFound()
        return reply
      }
      const response = await pending
      if (isPlainAnswer(req, res)) {
        reply.code(response.status)
        reply.headers(keepHostPolicy(reply, response.headers))
        return reply.send(nodeBody(response, res))
      }
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined && !res.headersSent) res.setHeader(name, value)
      }
      reply.hijack()
      writeNodeResponse(req, res, response)
      return reply
    }
  }
  return Object.assign(carillon, { [Symbol.for('plugin-meta')]: { name: 'carillon', fastify: '5.x' } })
}

/** Fastify refuses an unknown Content-Type before any handler runs. That answer belongs to the API. */
async function skipFastifysCheck(request: FastifyRequest): Promise<void> {
  if (request.raw.headers['content-type'] !== undefined && !request.mediaType) {
    request.headers = { 'content-type': undefined }
  }
}

/** The router compares decoded paths, so a prefix is removed by depth instead of length. */
function skipSegments(target: string, depth: number): string {
  const url = withoutOrigin(target)
  let start = 0
  for (let left = depth; left > 0 && start !== -1; left -= 1) start = url.indexOf('/', start + 1)
  return start === -1 ? '/' : url.slice(start)
}
