import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpApi } from '../../src/http/api.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'
import { ROUTES } from '../../src/http/routes/table.ts'
import type { Served } from '../../src/services/engine.ts'
import { NodeHttpRequest } from './node-request.ts'
import { isPlainAnswer, keepHostPolicy, writeNodeResponse } from './node-response.ts'
import { withoutOrigin } from './target.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'

/** What is used of a request of Fastify 5. */
export interface FastifyRequest {
  readonly raw: IncomingMessage
  readonly mediaType?: string | undefined
  headers: object
}

/** What is used of a reply of Fastify 5. */
export interface FastifyReply {
  readonly raw: ServerResponse
  code(status: number): unknown
  headers(values: Record<string, string>): unknown
  getHeaders(): Record<string, number | string | string[] | undefined>
  hasHeader(name: string): boolean
  send(payload: string | Buffer | null): unknown
  hijack(): unknown
  callNotFound(): unknown
}

/** What is used of an instance of Fastify 5. */
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

/** A plugin of Fastify 5. Typed by what it needs, so that Fastify's types are not. */
export type NotifierPlugin = (scope: FastifyScope, options: object) => Promise<void>

/** Each with everything below: what is not the API's never meets it, whatever routes the application has. */
const FAMILIES = [...new Set(ROUTES.flatMap(({ paths }) => paths.map((path) => `/${path.split('/')[1]}`)))]

/**
 * The REST API as a Fastify plugin, encapsulated: it reads request bodies itself and leaves parsers, hooks and error
 * handlers of the application as they are. The application's hooks run before it.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * app.register(notifierPlugin(notifier), { prefix: '/notifications' })
 */
export function notifierPlugin(notifier: Served, options?: HttpApiOptions): NotifierPlugin {
  const api = createHttpApi(notifier, options)

  async function carillon(scope: FastifyScope): Promise<void> {
    const depth = scope.prefix.split('/').filter((segment) => segment !== '').length
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.addHook('onRequest', skipFastifysCheck)
    for (const family of FAMILIES) {
      scope.all(family, answer)
      scope.all(`${family}/*`, answer)
    }

    async function answer({ raw: req }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const res = reply.raw
      const pending = api.handle(new NodeHttpRequest(req, res, skipSegments(req.url ?? '/', depth)))
      if (pending === null) {
        reply.callNotFound()
        return reply
      }
      const response = await pending
      if (isPlainAnswer(req, res)) {
        reply.code(response.status)
        reply.headers(keepHostPolicy(reply, response.headers))
        return reply.send(response.body)
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

/** Fastify refuses a Content-Type that it cannot parse before any handler; here that is for the API to say. */
async function skipFastifysCheck(request: FastifyRequest): Promise<void> {
  if (request.raw.headers['content-type'] !== undefined && !request.mediaType) {
    request.headers = { 'content-type': undefined }
  }
}

/** The router compares decoded paths, so that a prefix is cut off by its depth and not by its length. */
function skipSegments(target: string, depth: number): string {
  const url = withoutOrigin(target)
  let start = 0
  for (let left = depth; left > 0 && start !== -1; left -= 1) start = url.indexOf('/', start + 1)
  return start === -1 ? '/' : url.slice(start)
}
